// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tools/cli/reference/reference.h"

namespace bulkhead::cli {

// Returns bulkhead(1), which lists the subcommands and the options of all.
std::string ProgramPage(const CommandReference& reference);

// Returns bulkhead-NAME(1), the page of one subcommand.
std::string CommandPage(const CommandReference& command);

}  // namespace bulkhead::cli
