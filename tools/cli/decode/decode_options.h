// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/cli/decode/decode_jobs.h"

namespace bulkhead::cli {
class Command;
}  // namespace bulkhead::cli

namespace bulkhead::cli::decode {

// Adds the options that `bulkhead decode` and `bulkhead batch` share. They
// choose the part of a file, the device and the output format. Each of the two
// adds its own options for files and outputs. Parsing writes to `options`,
// which must outlive `command`.
void AddDecodeOptions(Command& command, DecodeOptions& options);

}  // namespace bulkhead::cli::decode
