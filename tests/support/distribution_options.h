// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bulkhead/host_options.h"

namespace bulkhead::tests {

// Returns options for a host that finds the backends of the test's distribution
// (the attribute `distribution` of bulkhead_test) and loads them.
HostOptions DistributionOptions();

}  // namespace bulkhead::tests
