// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tools/cli/reference/reference.h"

namespace bulkhead::cli {

// Each returns a script that completes the command line of `bulkhead` in that
// shell: subcommands, options with their help, the values of options that have
// a list of them, and files.
std::string BashCompletion(const CommandReference& reference);
std::string FishCompletion(const CommandReference& reference);
std::string ZshCompletion(const CommandReference& reference);

}  // namespace bulkhead::cli
