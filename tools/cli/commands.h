// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "tools/cli/command_line.h"
#include "tools/cli/options.h"

namespace bulkhead::cli {

// Returns the program `bulkhead` with its help and all subcommands. Parsing
// writes to `invocation`, which must outlive it.
std::unique_ptr<Command> MakeProgram(Invocation& invocation);

}  // namespace bulkhead::cli
