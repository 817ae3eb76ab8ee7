// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "tools/cli/command_line.h"
#include "tools/cli/options.h"

namespace bulkhead::cli {

// Returns the program `bulkhead` with its help and all subcommands. Parsing the
// command line stores the global options and the chosen subcommand in
// `invocation` (options.h), which must outlive the program.
std::unique_ptr<Command> MakeProgram(Invocation& invocation);

}  // namespace bulkhead::cli
