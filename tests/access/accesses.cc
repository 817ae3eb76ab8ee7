// SPDX-License-Identifier: Apache-2.0
#include "tests/access/accesses.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>

#include "tests/support/frame_hash.h"

namespace bulkhead::tests {
namespace {

std::vector<size_t> OrderOf(size_t count, size_t each) {
  std::vector<size_t> order;
  const size_t step = std::max<size_t>(count / std::max<size_t>(each, 1), 1);
  for (size_t i = 0; i < count; i += step) order.push_back(count - 1 - i);
  for (size_t i = 0; i < count; i += step) order.push_back(i);
  std::mt19937 random(3);
  for (size_t i = 0; i < each; ++i) order.push_back(random() % count);
  for (size_t i = 0; i < each; i += 3) {
    const size_t at = random() % count;
    order.push_back(at);
    if (at + 1 < count) order.push_back(at + 1);
    if (at > 0) order.push_back(at - 1);
  }
  return order;
}

void ExpectBatch(const Result<FrameBatch>& batch,
                 const std::vector<size_t>& wanted,
                 const std::vector<SeenFrame>& frames) {
  ASSERT_TRUE(batch) << batch.error();
  ASSERT_EQ(batch->size(), wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) {
    ASSERT_EQ(HashOf(batch->picture(i)), frames[wanted[i]].hash)
        << "frame " << wanted[i];
  }
}

}  // namespace

void ExpectAccesses(VideoDecoder& video, const std::vector<SeenFrame>& frames,
                    size_t each) {
  const auto count = video.FrameCount();
  ASSERT_TRUE(count) << count.error();
  ASSERT_EQ(*count, frames.size());
  for (const size_t index : OrderOf(frames.size(), each)) {
    const auto frame = video.FrameAt(static_cast<int64_t>(index));
    ASSERT_TRUE(frame) << index << ": " << frame.error();
    ASSERT_EQ(Describe(See(*frame)), Describe(frames[index]));
  }
}

void ExpectBatches(VideoDecoder& video, const std::vector<SeenFrame>& frames,
                   size_t each) {
  std::mt19937 random(5);
  std::vector<size_t> wanted;
  std::vector<int64_t> indices;
  for (size_t i = 0; i < each; ++i) {
    wanted.push_back(random() % frames.size());
    indices.push_back(static_cast<int64_t>(wanted.back()));
  }
  ExpectBatch(video.FramesAt(indices), wanted, frames);

  const size_t first = random() % frames.size();
  const size_t last = std::min(first + 2 * each, frames.size());
  wanted.clear();
  for (size_t i = first; i < last; i += 2) wanted.push_back(i);
  ExpectBatch(video.FramesInRange(static_cast<int64_t>(first),
                                  static_cast<int64_t>(last), 2),
              wanted, frames);

  // A frame may come without a time of its own.
  const bool timed = frames[first].pts.has_value() &&
                     (last == frames.size() || frames[last].pts.has_value());
  if (!timed || !video.PlayedRange()) return;
  wanted.clear();
  for (size_t i = first; i < last; ++i) wanted.push_back(i);
  const double stop =
      last < frames.size() ? frames[last].seconds : video.PlayedRange()->end;
  ExpectBatch(video.FramesPlayedInRange(frames[first].seconds, stop), wanted,
              frames);
}

}  // namespace bulkhead::tests
