// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/cli/options.h"

namespace bulkhead::cli {

// `bulkhead restart`, `reload`, `disable` and `enable`: what an operator has
// done with a backend of running applications.
void AddBackendCommands(CLI::App& app, Invocation& invocation);

}  // namespace bulkhead::cli
