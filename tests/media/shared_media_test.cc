// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "bulkhead/host.h"
#include "tests/access/straight_pass.h"
#include "tests/media/generated_clips.h"
#include "tests/media/marked_frames.h"
#include "tests/media/sample_file_suite.h"
#include "tests/media/sample_files.h"
#include "tests/support/frame_hash.h"

namespace bulkhead::tests {
namespace {

TEST(Samples, AreThere) {
  if (MediaFiles().empty()) GTEST_SKIP() << WhyNoSamples();
}

// Compares real files on each backend with ffmpeg on the same machine, since
// the bytes of RGB24 depend on the SIMD instructions of the machine.
class SharedMedia : public SampleFileSuite {
 protected:
  // Returns the frames, followed by the failure that ended the stream, if any.
  static std::vector<std::string> Decode(const std::string& path,
                                         VideoOptions options) {
    options.on_corrupt = OnCorrupt::kSkip;
    auto video = host().OpenVideo(path, std::move(options));
    if (!video) return {video.error().ToString()};
    return Decode(*video);
  }

  static std::vector<std::string> Decode(VideoDecoder& video) {
    std::vector<std::string> hashes;
    for (;;) {
      const auto frame = video.Next();
      if (!frame) hashes.push_back(frame.error().ToString());
      if (!frame || !*frame) return hashes;
      hashes.push_back(HashOf(**frame));
    }
  }

  static void ExpectSame(const std::vector<std::string>& actual,
                         const std::vector<std::string>& expected) {
    EXPECT_EQ(actual.size(), expected.size());
    for (size_t i = 0; i < std::min(actual.size(), expected.size()); ++i) {
      ASSERT_EQ(actual[i], expected[i]) << "frame " << i;
    }
    if (actual.size() > expected.size()) {
      ADD_FAILURE() << "then: " << actual[expected.size()];
    }
  }

  // Decodes the file on both backends and compares its frames with ffmpeg's.
  void ExpectFramesOfFfmpeg(OutputFormat format) {
    const auto reference = DecodeWithMarks(GetParam().path, format);
    if (!reference && reference.error().code() == Code::kNotFound) {
      GTEST_SKIP() << reference.error();
    }
    ASSERT_TRUE(reference) << reference.error();
    for (const char* device : {"cpu", "openreg:0"}) {
      SCOPED_TRACE(device);
      auto video =
          host().OpenVideo(GetParam().path, {.device = device,
                                             .on_corrupt = OnCorrupt::kSkip,
                                             .output_format = format});
      ASSERT_TRUE(video) << video.error();
      const std::vector<std::string> actual = Decode(*video);
      const bool has_marks =
          std::any_of(reference->begin(), reference->end(),
                      [](const MarkedFrame& frame) { return frame.marked; });
      std::vector<std::string> expected;
      for (const MarkedFrame& frame : *reference) {
        // FFmpeg does not mark the frames that refer to a marked one.
        const bool refers =
            has_marks && IsListedAsDamaged(*video, frame.pts) &&
            std::count(actual.begin(), actual.end(), frame.hash) == 0;
        if (!frame.marked && !refers) expected.push_back(frame.hash);
      }
      ExpectSame(actual, expected);
    }
  }
};

// Skips the test if there is no ffmpeg.
void Reference(const std::string& path, uint32_t threads,
               std::vector<std::string>& expected) {
  auto reference = HashesByFfmpeg(path, threads);
  if (!reference && reference.error().code() == Code::kNotFound) {
    GTEST_SKIP() << reference.error();
  }
  ASSERT_TRUE(reference) << reference.error();
  expected = *std::move(reference);
}

TEST_P(SharedMedia, DecodesAsFfmpegDoes) {
  ExpectFramesOfFfmpeg(OutputFormat::kRgb);
}

TEST_P(SharedMedia, DeliversThePlanesThatFfmpegWritesAsRawVideo) {
  ExpectFramesOfFfmpeg(OutputFormat::kNative);
  if (IsSkipped() || HasFatalFailure()) return;
  // Sound files are decoded straight into the slots, and at random places.
  auto video = host().OpenVideo(GetParam().path,
                                {.output_format = OutputFormat::kNative});
  ASSERT_TRUE(video) << video.error();
  std::vector<std::string> straight;
  for (;;) {
    const auto frame = video->Next();
    if (!frame) return;  // damaged
    if (!*frame) break;
    straight.push_back(HashOf(**frame));
  }
  const auto reference = NativeHashesByFfmpeg(GetParam().path);
  ASSERT_TRUE(reference) << reference.error();
  ExpectSame(straight, *reference);
  if (video->FrameCount().value() != straight.size()) return;
  for (size_t i = 0; i < 10; ++i) {
    const size_t at = (i * 7919 + 13) % straight.size();
    const auto frame = video->FrameAt(static_cast<int64_t>(at));
    ASSERT_TRUE(frame) << frame.error();
    EXPECT_EQ(HashOf(*frame), straight[at]) << at;
  }
}

// FFmpeg's threads and glibc's arenas for them must work under stage 2.
TEST_P(SharedMedia, DecodesWithThreadsAsFfmpegDoesWithAsMany) {
  constexpr uint32_t kThreads = 4;
  std::vector<std::string> expected;
  Reference(GetParam().path, kThreads, expected);
  if (IsSkipped() || HasFatalFailure()) return;
  const auto marks = DecodeWithMarks(GetParam().path);
  ASSERT_TRUE(marks) << marks.error();
  if (std::any_of(marks->begin(), marks->end(),
                  [](const MarkedFrame& frame) { return frame.marked; })) {
    GTEST_SKIP() << "what ffmpeg marks with more threads is not known";
  }
  ExpectSame(Decode(GetParam().path, {.device = "cpu", .threads = kThreads}),
             expected);
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(SharedMedia);
INSTANTIATE_TEST_SUITE_P(Media, SharedMedia, testing::ValuesIn(MediaFiles()),
                         [](const auto& file) { return TestName(file.param); });

}  // namespace
}  // namespace bulkhead::tests
