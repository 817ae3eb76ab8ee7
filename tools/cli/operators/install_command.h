// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/cli/options.h"

namespace bulkhead::cli {

// Adds `bulkhead install`, which installs a vendor's wheel into a plugin
// directory.
void AddInstallCommand(Command& program, Invocation& invocation);

}  // namespace bulkhead::cli
