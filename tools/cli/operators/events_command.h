// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/cli/options.h"

namespace bulkhead::cli {

// Adds `bulkhead events`, which prints the events of backends and sessions:
// those kept so far, and with --follow each new one.
void AddEventsCommand(Command& program, Invocation& invocation);

}  // namespace bulkhead::cli
