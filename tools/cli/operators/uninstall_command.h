// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/cli/options.h"

namespace bulkhead::cli {

// Adds `bulkhead uninstall`, which removes a distribution from a plugin
// directory.
void AddUninstallCommand(Command& program, Invocation& invocation);

}  // namespace bulkhead::cli
