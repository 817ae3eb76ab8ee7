// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/cli/options.h"

namespace bulkhead::cli {

// Adds `bulkhead metrics`, which prints the counts of the running applications
// in Prometheus' text format, or serves them by HTTP.
void AddMetricsCommand(Command& program, Invocation& invocation);

}  // namespace bulkhead::cli
