// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/cli/options.h"

namespace bulkhead::cli {

// Adds `bulkhead grants`, which lists what the operator has granted to which
// backend, and in which file.
void AddGrantsCommand(Command& program, Invocation& invocation);

}  // namespace bulkhead::cli
