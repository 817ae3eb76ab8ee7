// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/cli/options.h"

namespace bulkhead::cli {

// Adds `bulkhead replay N`, which repeats in a new process the request that was
// being served when a backend's process crashed.
void AddReplayCommand(Command& program, Invocation& invocation);

}  // namespace bulkhead::cli
