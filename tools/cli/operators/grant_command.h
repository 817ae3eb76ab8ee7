// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/cli/options.h"

namespace bulkhead::cli {

// Adds `bulkhead grant`, which grants a backend permissions that it asks for
// beyond its own files.
void AddGrantCommand(Command& program, Invocation& invocation);

}  // namespace bulkhead::cli
