// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/cli/options.h"

namespace bulkhead::cli {

// Adds `bulkhead events`, which prints the recorded events of backends and
// sessions and, with --follow, each new event.
void AddEventsCommand(Command& program, Invocation& invocation);

}  // namespace bulkhead::cli
