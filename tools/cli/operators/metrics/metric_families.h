// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/operators.h>
#include <prometheus/metric_family.h>

#include <vector>

#include "tools/cli/operators/metrics/metric_totals.h"

namespace bulkhead::cli {

// Returns what Prometheus scrapes: `totals` as counters, and as gauges what
// `running` shows at present, added up over the processes of each program. No
// label names a process, a file or a stream, so that the number of series does
// not grow with the work that is done. If nobody could be asked, `running` is
// the error, and the gauges are missing.
std::vector<prometheus::MetricFamily> FamiliesOf(
    const Result<RunningHosts>& running, const MetricTotals& totals);

}  // namespace bulkhead::cli
