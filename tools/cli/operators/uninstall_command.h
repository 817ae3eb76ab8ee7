// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/cli/options.h"

namespace bulkhead::cli {

// `bulkhead uninstall`: takes a distribution out of a plugin directory.
void AddUninstallCommand(CLI::App& app, Invocation& invocation);

}  // namespace bulkhead::cli
