// SPDX-License-Identifier: Apache-2.0
#include <numeric>
#include <random>

#include "tests/decoding/decoding_fixture.h"
#include "tests/support/frame_hash.h"

namespace bulkhead::tests {
namespace {

// Access by index returns the same frames as decoding in sequence.
class Access : public DecodingTest {
 protected:
  void ExpectEach(Clip clip, const std::vector<int64_t>& order) {
    const auto expected = Reference(clip);
    VideoDecoder video = Open(clip);
    for (int64_t index : order) {
      const auto frame = video.FrameAt(index);
      ASSERT_TRUE(frame) << index << ": " << frame.error();
      EXPECT_EQ(HashOf(*frame), expected[index]) << index;
      EXPECT_EQ(frame->index(), static_cast<uint64_t>(index));
    }
  }

  static std::vector<int64_t> UpTo(int64_t count) {
    std::vector<int64_t> order(count);
    std::iota(order.begin(), order.end(), 0);
    return order;
  }

  // Expects that each picture of the batch is the frame that `order` names.
  void ExpectBatch(const Result<FrameBatch>& batch,
                   const std::vector<int64_t>& order) {
    const auto expected = Reference(Clip::kH264);
    ASSERT_TRUE(batch) << batch.error();
    ASSERT_EQ(batch->size(), order.size());
    for (size_t i = 0; i < order.size(); ++i) {
      EXPECT_EQ(HashOf(batch->picture(i)), expected[order[i]]) << order[i];
      EXPECT_NEAR(batch->pts_seconds[i], order[i] / 25.0, 1e-6);
    }
  }
};

TEST_F(Access, FrameCountIsExact) {
  for (Clip clip : AllClips()) {
    VideoDecoder video = Open(clip);
    const auto count = video.FrameCount();
    ASSERT_TRUE(count) << ClipName(clip) << ": " << count.error();
    EXPECT_EQ(*count, Reference(clip).size()) << ClipName(clip);
  }
}

TEST_F(Access, AscendingSeeksAreExact) { ExpectEach(Clip::kH264, UpTo(120)); }

TEST_F(Access, DescendingSeeksAreExact) {
  auto order = UpTo(120);
  std::reverse(order.begin(), order.end());
  ExpectEach(Clip::kH264, order);
}

TEST_F(Access, RandomSeeksAreExact) {
  std::mt19937 random(1);
  for (Clip clip : AllClips()) {
    SCOPED_TRACE(ClipName(clip));
    auto order = UpTo(static_cast<int64_t>(Reference(clip).size()));
    std::shuffle(order.begin(), order.end(), random);
    ExpectEach(clip, order);
  }
}

TEST_F(Access, NegativeIndexCountsFromTheEnd) {
  const auto expected = Reference(Clip::kH264);
  VideoDecoder video = Open(Clip::kH264);
  EXPECT_EQ(HashOf(video.FrameAt(-1).value()), expected[119]);
  EXPECT_EQ(HashOf(video.FrameAt(-120).value()), expected[0]);
}

TEST_F(Access, IndexThatDoesNotExistIsOutOfRange) {
  VideoDecoder video = Open(Clip::kH264);
  for (int64_t index : {int64_t{120}, int64_t{-121}, INT64_MAX, INT64_MIN}) {
    const auto frame = video.FrameAt(index);
    ASSERT_FALSE(frame) << index;
    EXPECT_EQ(frame.error().code(), Code::kOutOfRange) << frame.error();
    EXPECT_NE(frame.error().message().find(std::to_string(index)),
              std::string::npos)
        << frame.error();
  }
  const std::vector<int64_t> indices = {0, 500};
  EXPECT_EQ(video.FramesAt(indices).error().code(), Code::kOutOfRange);
  EXPECT_EQ(HashOf(video.FrameAt(7).value()), Reference(Clip::kH264)[7])
      << "an error leaves the decoder usable";
}

TEST_F(Access, FramesAtKeepsTheOrderAndTheDuplicates) {
  VideoDecoder video = Open(Clip::kH264);
  const std::vector<int64_t> order = {7, 3, 3, 100, 7, 0, 119, 24, 23};
  ExpectBatch(video.FramesAt(order), order);
  const std::vector<int64_t> from_the_end = {-1, 0, -120};
  ExpectBatch(video.FramesAt(from_the_end), {119, 0, 0});
}

TEST_F(Access, FramesAtOfNothingIsEmpty) {
  VideoDecoder video = Open(Clip::kH264);
  const auto batch = video.FramesAt({});
  ASSERT_TRUE(batch) << batch.error();
  EXPECT_EQ(batch->size(), 0u);
}

TEST_F(Access, FramesInRangeFollowsPythonSlices) {
  VideoDecoder video = Open(Clip::kH264);
  ExpectBatch(video.FramesInRange(10, 14), {10, 11, 12, 13});
  ExpectBatch(video.FramesInRange(10, 40, 12), {10, 22, 34});
  ExpectBatch(video.FramesInRange(-3, std::nullopt), {117, 118, 119});
  ExpectBatch(video.FramesInRange(-2, -1), {118});
  ExpectBatch(video.FramesInRange(118, 1'000), {118, 119});
  ExpectBatch(video.FramesInRange(-1'000, 2), {0, 1});
  ExpectBatch(video.FramesInRange(5, 5), {});
  ExpectBatch(video.FramesInRange(9, 5), {});
  ExpectBatch(video.FramesInRange(500, 600), {});
}

TEST_F(Access, StepBelowOneIsRefused) {
  VideoDecoder video = Open(Clip::kH264);
  for (int64_t step : {0, -1}) {
    const auto batch = video.FramesInRange(0, 10, step);
    ASSERT_FALSE(batch);
    EXPECT_EQ(batch.error().code(), Code::kInvalidArgument) << batch.error();
  }
}

TEST_F(Access, NextGoesOnWhereItWas) {
  const auto expected = Reference(Clip::kH264);
  VideoDecoder video = Open(Clip::kH264);
  std::vector<std::string> hashes;
  for (int64_t i = 0;; ++i) {
    if (i % 10 == 5) {
      const int64_t other = (i * 37) % 120;
      EXPECT_EQ(HashOf(video.FrameAt(other).value()), expected[other]);
    }
    auto frame = video.Next().value();
    if (!frame) break;
    hashes.push_back(HashOf(*frame));
  }
  EXPECT_EQ(hashes, expected);
}

}  // namespace
}  // namespace bulkhead::tests
