// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/decode/progress.h"

#include <gtest/gtest.h>

namespace bulkhead::cli::decode {
namespace {

TEST(ProgressLine, HasABarWhereTheTotalIsKnown) {
  EXPECT_EQ(ProgressLine("clip.mp4", 30, 120, 0.5),
            "clip.mp4 [######..................] 30/120 frames (25%), "
            "60 frames/s");
  EXPECT_EQ(ProgressLine("clip.mp4", 120, 120, 0),
            "clip.mp4 [########################] 120/120 frames (100%)");
}

TEST(ProgressLine, HasNoBarWhereItIsNot) {
  EXPECT_EQ(ProgressLine("clip.mp4", 30, std::nullopt, 0),
            "clip.mp4 30 frames");
  EXPECT_EQ(ProgressLine("clip.mp4", 30, 29, 0), "clip.mp4 30 frames");
  EXPECT_EQ(ProgressLine("clip.mp4", 0, 0, 0), "clip.mp4 0 frames");
}

TEST(ProgressLine, MayCountInAnotherUnit) {
  EXPECT_EQ(ProgressLine("a.mp3", 8, std::nullopt, 2, "seconds"),
            "a.mp3 8 seconds, 4 seconds/s");
}

TEST(ProgressLine, KeepsTheEndOfALongName) {
  EXPECT_EQ(ProgressLine("a/very/long/directory/clip.mp4", 1, 10, 1),
            "...irectory/clip.mp4 [##......................] 1/10 frames "
            "(10%), 1 frames/s");
}

}  // namespace
}  // namespace bulkhead::cli::decode
