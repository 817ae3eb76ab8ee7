// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "backends/sdk/bulkhead_backend.h"
#include "core/discovery/discover.h"

namespace bulkhead::tests {
namespace {

// Discovery refuses a manifest of another ABI version without including the
// SDK, so both have the versions as constants. This test keeps them equal.
TEST(Abi, DiscoveryAndTheSdkMeanTheSameVersions) {
  const discovery::AbiVersions sdk{BULKHEAD_ABI_MIN_VERSION,
                                   BULKHEAD_ABI_VERSION};
  EXPECT_EQ(discovery::kBackendAbi, sdk);
}

}  // namespace
}  // namespace bulkhead::tests
