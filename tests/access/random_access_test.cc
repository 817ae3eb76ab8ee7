// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <random>

#include "bulkhead/host.h"
#include "tests/access/access_clips.h"
#include "tests/access/straight_pass.h"
#include "tests/media/sample_files.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

// The full form takes long: BULKHEAD_ACCESSES=200, as the README says.
size_t Accesses() {
  const char* text = std::getenv("BULKHEAD_ACCESSES");
  return text != nullptr ? std::strtoul(text, nullptr, 10) : 12;
}

// Clips without a path are still to be made.
std::vector<SampleFile> Files() {
  std::vector<SampleFile> files = MediaFiles();
  for (const std::string& clip : AccessClips()) files.push_back({clip, ""});
  return files;
}

TEST(Samples, AreThere) {
  if (MediaFiles().empty()) GTEST_SKIP() << WhyNoSamples();
}

// FrameAt gives a frame of a straight pass, the same whatever was asked for
// before, and the frame of each number that decodes.
class RandomAccess : public testing::TestWithParam<SampleFile> {
 protected:
  static void SetUpTestSuite() {
    HostOptions options;
    options.libexec_dir = LibexecDirectory();
    host_ = Host::Create(options).value().release();
  }
  static void TearDownTestSuite() { delete host_; }

  static VideoDecoder Open(const std::string& path, const char* device) {
    VideoOptions options;
    options.device = device;
    options.on_corrupt = OnCorrupt::kSkip;
    return host_->OpenVideo(path, options).value();
  }

 private:
  static Host* host_;
};

Host* RandomAccess::host_ = nullptr;

// A third forward, a third backward, a third anywhere, some of them twice.
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

TEST_P(RandomAccess, GivesTheFramesOfAStraightPass) {
  std::string path = GetParam().path;
  if (path.empty()) {
    const Result<std::string> made = MakeAccessClip(GetParam().name);
    if (!made) GTEST_SKIP() << made.error();
    path = *made;
  }
  for (const char* device : {"cpu", "openreg:0"}) {
    SCOPED_TRACE(device);
    VideoDecoder straight = Open(path, device);
    const StraightPass pass = DecodeStraight(straight);
    ASSERT_TRUE(pass.failure.ok()) << pass.failure;
    std::map<uint64_t, SeenFrame> frames;
    for (const SeenFrame& frame : pass.frames) frames[frame.index] = frame;

    VideoDecoder video = Open(path, device);
    const Result<uint64_t> count = video.FrameCount();
    ASSERT_TRUE(count) << count.error();
    uint64_t damaged = 0;
    for (const DamagedRange& range : straight.damage()) damaged += range.frames;
    EXPECT_EQ(*count, frames.size() + damaged);
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

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(RandomAccess);
INSTANTIATE_TEST_SUITE_P(Files, RandomAccess, testing::ValuesIn(Files()),
                         [](const auto& file) { return TestName(file.param); });

}  // namespace
}  // namespace bulkhead::tests
