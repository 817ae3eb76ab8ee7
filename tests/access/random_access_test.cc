// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <random>

#include "bulkhead/host.h"
#include "tests/access/access_clips.h"
#include "tests/access/straight_pass.h"
#include "tests/media/sample_file_suite.h"
#include "tests/media/sample_files.h"

namespace bulkhead::tests {
namespace {

// The number of accesses per file. The full test takes long and is run with
// BULKHEAD_ACCESSES=200, as the README says.
size_t Accesses() {
  const char* text = std::getenv("BULKHEAD_ACCESSES");
  return text != nullptr ? std::strtoul(text, nullptr, 10) : 12;
}

// Returns sample files and clips. A clip without a path has yet to be made.
std::vector<SampleFile> Files() {
  std::vector<SampleFile> files = MediaFiles();
  for (const std::string& clip : AccessClips()) files.push_back({clip, ""});
  return files;
}

TEST(Samples, AreThere) {
  if (MediaFiles().empty()) GTEST_SKIP() << WhyNoSamples();
}

// FrameAt of either device returns a frame of a straight pass of `cpu`,
// whatever was asked for before. It returns a frame for every index that
// decodes.
class RandomAccess : public SampleFileSuite {
 protected:
  // Skips the test if the clip cannot be made.
  void SetUp() override {
    path_ = GetParam().path;
    if (!path_.empty()) return;
    const Result<std::string> made = MakeAccessClip(GetParam().name);
    if (!made) GTEST_SKIP() << made.error();
    path_ = *made;
  }

  VideoDecoder Open(const char* device) {
    VideoOptions options;
    options.device = device;
    options.on_corrupt = OnCorrupt::kSkip;
    return host().OpenVideo(path_, options).value();
  }

 private:
  std::string path_;
};

// Returns the indices to access: one third in ascending order, one third in
// descending order, one third random. Some indices occur twice.
std::vector<int64_t> Order(size_t frames, size_t accesses, uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<int64_t> any(0, frames - 1);
  std::vector<int64_t> order(accesses);
  for (int64_t& index : order) index = any(random);
  const auto third = static_cast<std::ptrdiff_t>(accesses / 3);
  std::sort(order.begin(), order.begin() + third);
  std::sort(order.begin() + third, order.begin() + 2 * third, std::greater<>());
  for (size_t i = 5; i < accesses; i += 10) order[i] = order[i - 1];
  return order;
}

uint64_t DamagedFrames(const VideoDecoder& video) {
  uint64_t damaged = 0;
  for (const DamagedRange& range : video.damage()) {
    if (!range.not_in_index) damaged += range.frames;
  }
  return damaged;
}

TEST_P(RandomAccess, GivesTheFramesOfAStraightPass) {
  VideoDecoder straight = Open("cpu");
  const StraightPass pass = DecodeStraight(straight);
  ASSERT_TRUE(pass.failure.ok()) << pass.failure;
  std::map<uint64_t, SeenFrame> frames;
  for (const SeenFrame& frame : pass.frames) frames[frame.index] = frame;

  for (const char* device : {"cpu", "openreg:0"}) {
    SCOPED_TRACE(device);
    VideoDecoder video = Open(device);
    const Result<uint64_t> count = video.FrameCount();
    ASSERT_TRUE(count) << count.error();
    EXPECT_EQ(*count, frames.size() + DamagedFrames(straight));
    for (const int64_t index : Order(*count, Accesses(), 1)) {
      const auto expected = frames.find(static_cast<uint64_t>(index));
      const Result<Frame> frame = video.FrameAt(index);
      if (expected == frames.end()) {
        ASSERT_FALSE(frame) << index << ": " << Describe(See(*frame));
        ASSERT_EQ(frame.error().code(), Code::kBadInput) << frame.error();
        continue;
      }
      ASSERT_TRUE(frame) << index << ": " << frame.error();
      ASSERT_EQ(Describe(See(*frame)), Describe(expected->second)) << index;
    }
  }
}

// Returns whether all frames of the pass have different timestamps.
bool AreTimed(const std::vector<SeenFrame>& frames) {
  for (size_t i = 0; i < frames.size(); ++i) {
    if (!frames[i].pts) return false;
    if (i > 0 && *frames[i].pts <= *frames[i - 1].pts) return false;
  }
  return true;
}

// FramePlayedAt of either device returns the latest frame of a straight pass of
// `cpu` that has begun.
TEST_P(RandomAccess, GivesTheFramesOfAStraightPassByTime) {
  VideoDecoder straight = Open("cpu");
  const StraightPass pass = DecodeStraight(straight);
  ASSERT_TRUE(pass.failure.ok()) << pass.failure;
  const std::vector<SeenFrame>& frames = pass.frames;

  for (const char* device : {"cpu", "openreg:0"}) {
    SCOPED_TRACE(device);
    VideoDecoder video = Open(device);
    if (const auto played = video.PlayedRange(); !played) {
      ASSERT_EQ(played.error().code(), Code::kBadInput) << played.error();
      EXPECT_TRUE(!AreTimed(frames) || DamagedFrames(straight) > 0)
          << played.error();
      continue;
    }
    ASSERT_TRUE(AreTimed(frames));
    std::mt19937 random(2);
    std::uniform_real_distribution<double> part(0, 0.99);
    for (const int64_t at : Order(frames.size(), Accesses(), 3)) {
      const SeenFrame& expected = frames[static_cast<size_t>(at)];
      double seconds = expected.seconds;
      const auto next = static_cast<size_t>(at) + 1;
      // A damaged frame may be played between two frames of the pass.
      if (next < frames.size() && frames[next].index == expected.index + 1) {
        seconds += part(random) * (frames[next].seconds - seconds);
      }
      const Result<Frame> frame = video.FramePlayedAt(seconds);
      ASSERT_TRUE(frame) << seconds << ": " << frame.error();
      ASSERT_EQ(Describe(See(*frame)), Describe(expected)) << seconds;
    }
  }
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(RandomAccess);
INSTANTIATE_TEST_SUITE_P(Files, RandomAccess, testing::ValuesIn(Files()),
                         [](const auto& file) { return TestName(file.param); });

}  // namespace
}  // namespace bulkhead::tests
