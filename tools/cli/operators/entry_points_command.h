// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/cli/options.h"

namespace bulkhead::cli {

// Adds `bulkhead entry-points`, which lists the entry points of all groups that
// installed packages declare.
void AddEntryPointsCommand(Command& program, Invocation& invocation);

}  // namespace bulkhead::cli
