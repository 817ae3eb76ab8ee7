// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tools/cli/reference/reference.h"

namespace bulkhead::cli::reference {

// Returns the man page bulkhead(1), with the subcommands and the global
// options.
std::string ProgramPage(const CommandReference& reference);

// Returns the man page of one subcommand, bulkhead-NAME(1).
std::string CommandPage(const CommandReference& command);

}  // namespace bulkhead::cli::reference
