// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/cli/options.h"

namespace bulkhead::cli {

// Adds `bulkhead grants`, which lists the grants of each backend with the file
// that holds them.
void AddGrantsCommand(Command& program, Invocation& invocation);

}  // namespace bulkhead::cli
