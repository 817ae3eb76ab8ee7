// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/cli/options.h"

namespace bulkhead::cli {

// Adds `bulkhead grant`, which grants a backend permissions that its manifest
// asks for, such as access to a device node.
void AddGrantCommand(Command& program, Invocation& invocation);

}  // namespace bulkhead::cli
