// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/cli/options.h"

namespace bulkhead::cli {

// Adds `bulkhead probe FILE...`, which prints the metadata of each file and of
// each stream in it. A sandboxed worker reads the files, without decoding.
void AddProbeCommand(Command& program, Invocation& invocation);

}  // namespace bulkhead::cli
