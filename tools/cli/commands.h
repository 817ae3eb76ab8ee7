// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/cli/options.h"

namespace bulkhead::cli {

// Adds all subcommands and the help of the program to `app`. Parsing writes to
// `invocation`, which must outlive `app`.
void AddCommands(CLI::App& app, Invocation& invocation);

}  // namespace bulkhead::cli
