// SPDX-License-Identifier: Apache-2.0
#include "core/application/worker_link/output_options.h"

#include <capnp/message.h>
#include <gtest/gtest.h>

#include <cstdint>

namespace bulkhead::worker_link {
namespace {

constexpr uint32_t kWidth = 32;
constexpr uint32_t kHeight = 24;

// Returns the code for a worker that was asked to scale to kWidth x kHeight,
// and announces such pictures, of a file with this upright size.
Code CodeOf(uint32_t upright_width, uint32_t upright_height,
            uint32_t width = kWidth, uint32_t threads = 1) {
  capnp::MallocMessageBuilder message;
  auto opened = message.initRoot<ipc::schema::Opened>();
  opened.setUprightWidth(upright_width);
  opened.setUprightHeight(upright_height);
  opened.setThreads(threads);
  VideoOptions options;
  options.threads = 4;
  options.transforms = {Resize{.height = kHeight, .width = kWidth}};
  Limits limits;
  limits.frame_pixels = 1'000'000;
  VideoMetadata metadata;
  metadata.width = width;
  metadata.height = kHeight;
  return AddOutputIfValid(opened.asReader(), options, limits, metadata).code();
}

TEST(AnnouncedOutput, HasAnUprightSizeWithinTheLimit) {
  EXPECT_EQ(CodeOf(1000, 1000), Code::kOk);
  EXPECT_EQ(CodeOf(1'000'000, 1), Code::kOk);
  constexpr uint32_t kMost = UINT32_MAX;
  constexpr uint32_t kHalf = uint32_t{1} << 31;
  constexpr uint32_t kSizes[][2] = {
      {0, 24},    {32, 0},    {0, 0},         {1001, 1000},  {1000, 1001},
      {kMost, 1}, {1, kMost}, {kHalf, kHalf}, {kMost, kMost}};
  for (const auto& size : kSizes) {
    EXPECT_EQ(CodeOf(size[0], size[1]), Code::kBackendMisbehaved)
        << size[0] << "x" << size[1];
  }
}

TEST(AnnouncedOutput, HasTheSizeThatWasAskedFor) {
  EXPECT_EQ(CodeOf(64, 48), Code::kOk);
  EXPECT_EQ(CodeOf(64, 48, kWidth + 1), Code::kBackendMisbehaved);
}

TEST(AnnouncedOutput, HasTheThreadsThatWereAskedForOrOne) {
  EXPECT_EQ(CodeOf(64, 48, kWidth, 4), Code::kOk);
  EXPECT_EQ(CodeOf(64, 48, kWidth, 3), Code::kBackendMisbehaved);
  EXPECT_EQ(CodeOf(64, 48, kWidth, 0), Code::kBackendMisbehaved);
}

}  // namespace
}  // namespace bulkhead::worker_link
