// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/cli/options.h"

namespace bulkhead::cli {

// Adds `bulkhead crashes [show N | clear]`, which shows or removes the records
// that bulkheadd keeps of crashed backend processes.
void AddCrashesCommand(Command& program, Invocation& invocation);

}  // namespace bulkhead::cli
