// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/decode/backend_table.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>

namespace bulkhead::worker::decode {
namespace {

bulkhead_backend Table(uint32_t oldest, uint32_t newest) {
  bulkhead_backend table{};
  table.size = sizeof(table);
  table.abi_version = newest;
  table.min_abi_version = oldest;
  table.name = "vendor";
  table.version = "1";
  table.enumerate_devices = [](auto...) { return BULKHEAD_OK; };
  table.open = [](auto...) { return BULKHEAD_OK; };
  table.send_packet = [](auto...) { return BULKHEAD_OK; };
  table.receive_frame = [](auto...) { return BULKHEAD_OK; };
  table.release_frame = [](auto...) {};
  table.flush = [](auto...) {};
  table.close = [](auto...) {};
  table.last_error = [](auto...) -> const char* { return ""; };
  return table;
}

TEST(BackendTableTest, InForceIsTheNewestVersionThatBothServe) {
  constexpr AbiRange kLater{3, 5};
  EXPECT_EQ(VersionInForce(Table(1, 4), kLater), 4u);
  EXPECT_EQ(VersionInForce(Table(4, 9), kLater), 5u);
  EXPECT_EQ(VersionInForce(Table(1, 3), kLater), 3u);
  EXPECT_EQ(VersionInForce(Table(1, 2), kLater), 0u);
  EXPECT_EQ(VersionInForce(Table(6, 9), kLater), 0u);
  // No oldest version: only the newest.
  EXPECT_EQ(VersionInForce(Table(0, 4), kLater), 4u);
  EXPECT_EQ(VersionInForce(Table(0, 6), kLater), 0u);
}

TEST(BackendTableTest, ATableWithoutARangeServesItsVersionOnly) {
  bulkhead_backend past = Table(7, BULKHEAD_ABI_VERSION);
  past.size = offsetof(bulkhead_backend, min_abi_version);
  EXPECT_EQ(VersionInForce(past), BULKHEAD_ABI_VERSION);
}

TEST(BackendTableTest, WithoutACommonVersionBothRangesAreNamed) {
  const bulkhead_backend table = Table(2, 4);
  const auto refused = ValidateBackend(&table, {5, 5});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ipc::Code::kBackendUnavailable);
  EXPECT_NE(refused.error().message.find(
                "serves versions 2 to 4 of the ABI, and this Bulkhead version "
                "5"),
            std::string::npos)
      << refused.error().message;
}

TEST(BackendTableTest, ATableWithGapsIsRefused) {
  bulkhead_backend table = Table(0, BULKHEAD_ABI_VERSION);
  EXPECT_TRUE(ValidateBackend(&table));
  EXPECT_FALSE(ValidateBackend(nullptr));
  table.size = offsetof(bulkhead_backend, last_error);
  EXPECT_FALSE(ValidateBackend(&table));
}

}  // namespace
}  // namespace bulkhead::worker::decode
