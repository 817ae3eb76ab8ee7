// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/cli/options.h"

namespace bulkhead::cli {

// Adds `bulkhead completion SHELL`, which prints the completion script for a
// shell. The script has all subcommands of `program`, including those that are
// added after this call.
void AddCompletionCommand(Command& program, Invocation& invocation);

}  // namespace bulkhead::cli
