// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/operators.h>
#include <prometheus/metric_family.h>

#include <vector>

#include "tools/cli/operators/metrics/metric_totals.h"

namespace bulkhead::cli::metrics {

// Returns the metrics that Prometheus scrapes: `totals` as counters, and the
// present numbers in `running` as gauges. Each gauge is summed over all
// processes of one program. No label names a process, a file or a stream, so
// that the number of series does not grow with the work done. If `running` is
// an error, because no application could be asked, the only gauge is
// bulkhead_up, which is then 0.
std::vector<prometheus::MetricFamily> FamiliesOf(
    const Result<RunningHosts>& running, const MetricTotals& totals);

}  // namespace bulkhead::cli::metrics
