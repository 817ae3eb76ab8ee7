// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/cli/options.h"

namespace bulkhead::cli {

// Adds `bulkhead replay N`. Crash record N has the request during which a
// backend's process crashed; the command repeats it with a new process.
void AddReplayCommand(Command& program, Invocation& invocation);

}  // namespace bulkhead::cli
