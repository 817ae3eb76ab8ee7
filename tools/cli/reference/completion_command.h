// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/cli/options.h"

namespace bulkhead::cli {

// Adds `bulkhead completion SHELL`, which prints the completion of a shell. It
// describes all subcommands of `program`, also those that are added later.
void AddCompletionCommand(Command& program, Invocation& invocation);

}  // namespace bulkhead::cli
