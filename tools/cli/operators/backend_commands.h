// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/cli/options.h"

namespace bulkhead::cli {

// Adds `bulkhead restart`, `reload`, `disable` and `enable`, which act on one
// backend in one or all running applications of the user.
void AddBackendCommands(Command& program, Invocation& invocation);

}  // namespace bulkhead::cli
