// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/cli/decode/decode_job.h"

namespace bulkhead::cli {

class Command;

// Adds the options that say what is decoded of a file, on which device and to
// which format: those that `bulkhead decode` and `bulkhead batch` share. Files
// and outputs are the subcommands' own. Parsing writes to `options`, which must
// outlive `command`.
void AddDecodeOptions(Command& command, DecodeOptions& options);

}  // namespace bulkhead::cli
