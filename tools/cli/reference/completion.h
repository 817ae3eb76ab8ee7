// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tools/cli/reference/reference.h"

namespace bulkhead::cli::reference {

// Return a script for the named shell that completes the command line of
// `bulkhead`: subcommands, options with their help, the values of options that
// have a fixed list of values, and files.
std::string BashCompletion(const CommandReference& reference);
std::string FishCompletion(const CommandReference& reference);
std::string ZshCompletion(const CommandReference& reference);

}  // namespace bulkhead::cli::reference
