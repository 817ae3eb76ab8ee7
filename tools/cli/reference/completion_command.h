// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/cli/options.h"

namespace bulkhead::cli {

// Adds `bulkhead completion SHELL`, which prints the completion of a shell. It
// describes all subcommands of `app`, also those that are added later.
void AddCompletionCommand(CLI::App& app, Invocation& invocation);

}  // namespace bulkhead::cli
