// SPDX-License-Identifier: Apache-2.0
#include "backends/sdk/sized.h"

#include <gtest/gtest.h>

#include "backends/sdk/bulkhead_backend.h"

namespace bulkhead::sdk {
namespace {

TEST(TakeSizedTest, FieldsBeyondTheSizeReadAsZero) {
  bulkhead_open_parameters older{};
  older.size = offsetof(bulkhead_open_parameters, max_frame_pixels);
  older.device = 1;
  older.max_frame_pixels = 7;
  const bulkhead_open_parameters taken = TakeSized(older);
  EXPECT_EQ(taken.device, 1u);
  EXPECT_EQ(taken.max_frame_pixels, 0u);
}

TEST(TakeSizedTest, AnUnknownTailIsLeftOut) {
  struct {
    bulkhead_device known;
    uint64_t tail;
  } newer{};
  newer.known.size = sizeof(newer);
  newer.known.name = "acme";
  EXPECT_STREQ(TakeSized(newer.known).name, "acme");
}

}  // namespace
}  // namespace bulkhead::sdk
