// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "backends/sdk/bulkhead_backend.h"
#include "core/discovery/discover.h"

namespace bulkhead::tests {
namespace {

// Discovery refuses a manifest of another version without seeing the SDK.
TEST(Abi, DiscoveryAndTheSdkMeanOneVersion) {
  EXPECT_EQ(discovery::kBackendAbi, int64_t{BULKHEAD_ABI_VERSION});
}

}  // namespace
}  // namespace bulkhead::tests
