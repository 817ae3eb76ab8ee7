// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/cli/options.h"

namespace bulkhead::cli {

// Adds `bulkhead restart`, `reload`, `disable` and `enable`. Each acts on one
// backend, in one or all of the user's running applications.
void AddBackendCommands(Command& program, Invocation& invocation);

}  // namespace bulkhead::cli
