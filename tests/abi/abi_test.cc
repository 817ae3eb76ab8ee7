// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "backends/sdk/bulkhead_backend.h"
#include "core/discovery/discover.h"

namespace bulkhead::tests {
namespace {

// Discovery refuses a manifest of another ABI version without including the
// SDK, so both have the version as a constant. This test keeps them equal.
TEST(Abi, DiscoveryAndTheSdkMeanOneVersion) {
  EXPECT_EQ(discovery::kBackendAbi, int64_t{BULKHEAD_ABI_VERSION});
}

}  // namespace
}  // namespace bulkhead::tests
