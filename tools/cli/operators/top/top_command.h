// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/cli/options.h"

namespace bulkhead::cli {

// Adds `bulkhead top`, which shows the running applications of this user on a
// full screen, the worst first.
void AddTopCommand(Command& program, Invocation& invocation);

}  // namespace bulkhead::cli
