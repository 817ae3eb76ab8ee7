// SPDX-License-Identifier: Apache-2.0
#include "tests/media/generated_clips.h"

#include <gtest/gtest.h>

namespace bulkhead::tests {
namespace {

struct Shape {
  Clip clip;
  size_t frames;
  size_t bytes;
};

TEST(GeneratedClips, HaveTheStatedFrames) {
  for (const auto& [clip, frames, bytes] :
       {Shape{Clip::kH264, 120, 320 * 240 * 3},
        Shape{Clip::kVp9, 48, 320 * 240 * 3},
        Shape{Clip::kMpeg2, 48, 320 * 240 * 3},
        Shape{Clip::kOddSize, 30, 175 * 143 * 3},
        Shape{Clip::kRotated, 120, 240 * 320 * 3},
        Shape{Clip::kPng, 20, 160 * 120 * 3}}) {
    SCOPED_TRACE(ClipName(clip));
    const auto path = Generate(clip);
    if (!path && path.error().code() == Code::kNotFound) {
      GTEST_SKIP() << path.error();
    }
    ASSERT_TRUE(path) << path.error();
    const auto decoded = DecodeWithFfmpeg(*path);
    ASSERT_TRUE(decoded) << decoded.error();
    ASSERT_EQ(decoded->size(), frames);
    EXPECT_EQ(decoded->front().bytes, bytes);
    EXPECT_NE(decoded->front().hash, decoded->back().hash);
  }
}

TEST(GeneratedClips, TurnedClipShowsOtherPicturesThanTheUprightOne) {
  const auto upright = Generate(Clip::kH264);
  const auto turned = Generate(Clip::kRotated);
  if (!upright || !turned) GTEST_SKIP() << upright.error();
  EXPECT_NE(DecodeWithFfmpeg(*upright).value()[5],
            DecodeWithFfmpeg(*turned).value()[5]);
}

TEST(DecodeWithFfmpeg, FileWithoutVideoIsAnError) {
  EXPECT_FALSE(DecodeWithFfmpeg("/proc/self/cmdline"));
}

}  // namespace
}  // namespace bulkhead::tests
