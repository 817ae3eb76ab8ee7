// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/cli/options.h"

namespace bulkhead::cli {

// Adds `bulkhead metrics`, which prints what was counted of the running
// applications in Prometheus' text format, or serves it.
void AddMetricsCommand(Command& program, Invocation& invocation);

}  // namespace bulkhead::cli
