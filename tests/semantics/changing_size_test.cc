// SPDX-License-Identifier: Apache-2.0
// Tests VideoOptions::autoscale: without it, each frame of a stream that
// changes its size has its own, byte for byte as libav decodes it in this
// process.
#include <gtest/gtest.h>
#include <signal.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bulkhead/host.h"
#include "tests/media/changing_clips.h"
#include "tests/support/frame_hash.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

// The first frame of each part but the first.
constexpr size_t kLarger = kFramesOfPart;
constexpr size_t kSmaller = 2 * kFramesOfPart;
constexpr size_t kOtherFormat = 3 * kFramesOfPart;
constexpr size_t kLargest = 4 * kFramesOfPart;
constexpr size_t kFrames = 5 * kFramesOfPart;

struct OwnForm {
  std::string device;
  OutputFormat format;
};

VideoOptions Unscaled(OutputFormat format) {
  return {.output_format = format, .autoscale = false};
}

size_t MemoryFilesMapped() {
  std::ifstream maps("/proc/self/maps");
  size_t count = 0;
  for (std::string line; std::getline(maps, line);) {
    count += line.find("memfd:bulkhead-frames") != std::string::npos;
  }
  return count;
}

size_t Descriptors() {
  const std::filesystem::directory_iterator open("/proc/self/fd");
  return static_cast<size_t>(std::distance(begin(open), end(open)));
}

class ChangingSize : public testing::TestWithParam<OwnForm> {
 protected:
  void SetUp() override {
    if (const auto clip = Generate(ChangingClip::kMjpeg);
        !clip && clip.error().code() == Code::kNotFound) {
      GTEST_SKIP() << "there is no ffmpeg to make clips with";
    }
    host_ = MakeHost({});
  }

  static std::unique_ptr<Host> MakeHost(const Limits& limits) {
    HostOptions options;
    options.libexec_dir = LibexecDirectory();
    options.limits = limits;
    return Host::Create(options).value();
  }

  static VideoDecoder OpenOn(Host& host, ChangingClip clip,
                             VideoOptions options) {
    options.device = GetParam().device;
    return host.OpenVideo(Generate(clip).value(), std::move(options)).value();
  }
  VideoDecoder Open(ChangingClip clip) {
    return OpenOn(*host_, clip, Unscaled(GetParam().format));
  }

  static std::vector<LibavPicture> Reference(ChangingClip clip) {
    auto pictures = DecodeWithLibav(Generate(clip).value()).value();
    if (clip == ChangingClip::kMpeg2) return pictures;
    EXPECT_EQ(pictures.size(), kFrames);
    pictures.resize(kFrames);
    return pictures;
  }

  static void ExpectIs(const Frame& frame, const LibavPicture& picture) {
    const bool native = GetParam().format == OutputFormat::kNative;
    EXPECT_EQ(frame.width(), picture.width);
    EXPECT_EQ(frame.height(), picture.height);
    EXPECT_EQ(frame.pixel_format(), native ? picture.pixel_format : "rgb24");
    EXPECT_EQ(HashOf(frame), native ? picture.native_hash : picture.rgb_hash);
  }

  static void ExpectPass(VideoDecoder& video,
                         const std::vector<LibavPicture>& expected) {
    for (size_t i = 0; i < expected.size(); ++i) {
      SCOPED_TRACE(i);
      const auto frame = video.Next();
      ASSERT_TRUE(frame) << frame.error();
      ASSERT_TRUE(*frame);
      ExpectIs(**frame, expected[i]);
    }
    EXPECT_FALSE(video.Next().value());
  }

  std::unique_ptr<Host> host_;
};

TEST_P(ChangingSize, EachFrameIsThatOfLibav) {
  for (const ChangingClip clip : WholeChangingClips()) {
    SCOPED_TRACE(ClipName(clip));
    const auto expected = Reference(clip);
    ASSERT_NE(expected[0].width, expected[kLarger].width);
    VideoDecoder video = Open(clip);
    EXPECT_EQ(video.metadata().width, expected[0].width);
    EXPECT_EQ(video.metadata().height, expected[0].height);
    ExpectPass(video, expected);
    // Goes back over every change, now that the slots are large.
    video.Rewind();
    ExpectPass(video, expected);
    EXPECT_EQ(video.recovery().restarts, 0u);
  }
}

// The decoder then writes into private memory, and every frame is copied.
TEST_P(ChangingSize, EachFrameIsThatOfLibavWhereDamageIsShown) {
  const auto expected = Reference(ChangingClip::kH264);
  VideoOptions options = Unscaled(GetParam().format);
  options.on_corrupt = OnCorrupt::kShow;
  VideoDecoder video = OpenOn(*host_, ChangingClip::kH264, options);
  ExpectPass(video, expected);
}

// The one that it drops at a change is damage of the stream.
TEST_P(ChangingSize, EachFrameIsThatOfLibavWhereItDropsSome) {
  const auto expected = Reference(ChangingClip::kMpeg2);
  ASSERT_GT(expected.size(), kFrames - kFramesOfPart);
  VideoOptions options = Unscaled(GetParam().format);
  options.on_corrupt = OnCorrupt::kSkip;
  VideoDecoder video = OpenOn(*host_, ChangingClip::kMpeg2, options);
  ExpectPass(video, expected);
}

TEST_P(ChangingSize, IsTheSameAtAnyPlaceInAnyOrder) {
  for (const ChangingClip clip : WholeChangingClips()) {
    SCOPED_TRACE(ClipName(clip));
    const auto expected = Reference(clip);
    VideoDecoder video = Open(clip);
    for (const size_t at :
         {kLarger, kLarger - 1, size_t{0}, kLargest + 3, kSmaller, kOtherFormat,
          kOtherFormat - 1, kLarger + 5, kFrames - 1, size_t{3}}) {
      SCOPED_TRACE(at);
      const auto frame = video.FrameAt(static_cast<int64_t>(at));
      ASSERT_TRUE(frame) << frame.error();
      EXPECT_EQ(frame->index(), at);
      ExpectIs(*frame, expected[at]);
    }
  }
}

TEST_P(ChangingSize, GoesOnAfterTheDeathOfAWorker) {
  for (const ChangingClip clip : WholeChangingClips()) {
    for (const size_t at : {kLarger - 1, kLarger, kLarger + 1, kSmaller + 1}) {
      SCOPED_TRACE(std::string(ClipName(clip)) + " " + std::to_string(at));
      const auto expected = Reference(clip);
      VideoDecoder video = Open(clip);
      for (size_t i = 0; i < expected.size(); ++i) {
        if (i == at) {
          ASSERT_EQ(kill(video.worker_pid(), SIGKILL), 0);
        }
        const auto frame = video.Next();
        ASSERT_TRUE(frame) << i << ": " << frame.error();
        ASSERT_TRUE(*frame);
        ExpectIs(**frame, expected[i]);
      }
      EXPECT_EQ(video.recovery().restarts, 1u);
    }
  }
}

TEST_P(ChangingSize, IndexedAccessGoesOnAfterTheDeathOfAWorker) {
  const auto expected = Reference(ChangingClip::kH264);
  VideoDecoder video = Open(ChangingClip::kH264);
  for (const size_t at : {kLarger + 2, size_t{1}, kLargest, kSmaller}) {
    ASSERT_EQ(kill(video.worker_pid(), SIGKILL), 0);
    ExpectIs(video.FrameAt(static_cast<int64_t>(at)).value(), expected[at]);
  }
  EXPECT_EQ(video.recovery().restarts, 4u);
}

// The slots of small frames stay theirs when larger ones take their place.
TEST_P(ChangingSize, FramesStayWhatTheyAreWhileTheyAreHeld) {
  for (const ChangingClip clip : WholeChangingClips()) {
    SCOPED_TRACE(ClipName(clip));
    const auto expected = Reference(clip);
    VideoDecoder video = Open(clip);
    std::vector<std::pair<size_t, Frame>> held;
    for (size_t i = 0; i < kFrames; ++i) {
      Frame frame = *video.Next().value();
      if (i % kFramesOfPart >= kFramesOfPart - 2) {
        held.emplace_back(i, std::move(frame));
      }
    }
    for (const auto& [i, frame] : held) {
      SCOPED_TRACE(i);
      ExpectIs(frame, expected[i]);
      ExpectIs(frame.Snapshot(), expected[i]);
      ExpectIs(frame.MapPrivate().value(), expected[i]);
    }
  }
}

TEST_P(ChangingSize, LeavesNoDescriptorAndNoMemoryBehind) {
  VideoDecoder video = Open(ChangingClip::kMjpeg);
  ASSERT_TRUE(video.Next().value());
  const size_t descriptors = Descriptors();
  const size_t mapped = MemoryFilesMapped();
  while (video.Next().value()) {
  }
  EXPECT_EQ(Descriptors(), descriptors);
  EXPECT_EQ(MemoryFilesMapped(), mapped);
}

TEST_P(ChangingSize, EndsAtTheLimitOfPixels) {
  Limits limits;
  limits.frame_pixels = 320 * 180;
  const auto host = MakeHost(limits);
  // Its decoder delays no picture: the last small one comes before the failure.
  const auto expected = Reference(ChangingClip::kMjpeg);
  VideoDecoder video =
      OpenOn(*host, ChangingClip::kMjpeg, Unscaled(GetParam().format));
  for (size_t i = 0; i < kLarger; ++i) {
    ExpectIs(*video.Next().value(), expected[i]);
  }
  const auto frame = video.Next();
  ASSERT_FALSE(frame);
  EXPECT_EQ(frame.error().code(), Code::kResourceExhausted) << frame.error();
  EXPECT_NE(frame.error().message().find("frame-pixels"), std::string::npos)
      << frame.error();
}

TEST_P(ChangingSize, EndsAtTheMemoryOfTheSession) {
  Limits limits;
  // Leaves room for some frames of the first part, but not for two of the
  // second beside them: a worker may keep the memory that it was given.
  limits.session_bytes = 1'000'000;
  const auto host = MakeHost(limits);
  const auto expected = Reference(ChangingClip::kMjpeg);
  VideoDecoder video =
      OpenOn(*host, ChangingClip::kMjpeg, Unscaled(GetParam().format));
  for (int round = 0; round < 2; ++round) {
    for (size_t i = 0; i < kLarger; ++i) {
      ExpectIs(*video.Next().value(), expected[i]);
    }
    for (int again = 0; again < 2; ++again) {
      const auto frame = video.Next();
      ASSERT_FALSE(frame);
      EXPECT_EQ(frame.error().code(), Code::kResourceExhausted)
          << frame.error();
      EXPECT_NE(frame.error().message().find("two frames of 482x270 need"),
                std::string::npos)
          << frame.error();
      EXPECT_NE(frame.error().message().find("session_bytes"),
                std::string::npos)
          << frame.error();
    }
    // Frames of the first size can still be had.
    ExpectIs(video.FrameAt(3).value(), expected[3]);
    ExpectIs(video.FrameAt(kSmaller).value(), expected[kSmaller]);
    video.Rewind();
  }
  EXPECT_EQ(video.recovery().restarts, 0u);
}

TEST_P(ChangingSize, BatchesAreOfFramesOfTheFirstSize) {
  if (GetParam().format == OutputFormat::kNative) {
    GTEST_SKIP() << "native frames have no batches";
  }
  const auto expected = Reference(ChangingClip::kH264);
  VideoDecoder video = Open(ChangingClip::kH264);
  const int64_t alike[] = {3, 0};
  const auto batch = video.FramesAt(alike);
  ASSERT_TRUE(batch) << batch.error();
  EXPECT_EQ(HashOf(batch->picture(0)), expected[3].rgb_hash);
  EXPECT_EQ(HashOf(batch->picture(1)), expected[0].rgb_hash);
  const int64_t indices[] = {3, kSmaller};
  const double times[] = {
      video.FrameAt(static_cast<int64_t>(kLarger + 1)).value().pts_seconds()};
  std::vector<std::byte> into(size_t{2} * 3 * 320 * 180);
  for (const auto& other :
       {video.FramesAt(indices), video.FramesAt(indices, into),
        video.FramesInRange(kLarger - 1, kLarger + 1),
        video.FramesPlayedAt(times), video.AllFrames(), video.AllFrames(5)}) {
    ASSERT_FALSE(other);
    EXPECT_EQ(other.error().code(), Code::kInvalidArgument);
    EXPECT_NE(other.error().message().find("autoscale"), std::string::npos)
        << other.error();
  }
}

TEST_P(ChangingSize, TransformsAreRefused) {
  VideoOptions options = Unscaled(OutputFormat::kRgb);
  options.device = GetParam().device;
  options.transforms = {Resize{.height = 16, .width = 16}};
  const auto video = host_->OpenVideo(Generate(ChangingClip::kMjpeg).value(),
                                      std::move(options));
  ASSERT_FALSE(video);
  EXPECT_EQ(video.error().code(), Code::kInvalidArgument);
  EXPECT_NE(video.error().message().find("autoscale"), std::string::npos)
      << video.error();
}

TEST_P(ChangingSize, FloatsKeepTheirSizesToo) {
  const auto expected = Reference(ChangingClip::kMjpeg);
  VideoOptions options = Unscaled(OutputFormat::kRgb);
  options.output_dtype = OutputDtype::kFloat32;
  VideoDecoder video = OpenOn(*host_, ChangingClip::kMjpeg, options);
  for (size_t i = 0; i < kFrames; ++i) {
    const Frame frame = *video.Next().value();
    ASSERT_EQ(frame.width(), expected[i].width);
    ASSERT_EQ(frame.height(), expected[i].height);
    // A float is a 65535th of the number that swscale made.
    std::vector<uint16_t> numbers;
    for (uint32_t y = 0; y < frame.height(); ++y) {
      for (const float number : frame.numbers<float>(y)) {
        numbers.push_back(static_cast<uint16_t>(std::lround(number * 65535)));
      }
    }
    EXPECT_EQ(HashOf(std::as_bytes(std::span(numbers))), expected[i].rgb48_hash)
        << i;
  }
}

// Without the option, frames are scaled as before.
TEST_P(ChangingSize, IsThatOfTheFirstFrameByDefault) {
  VideoDecoder video = OpenOn(*host_, ChangingClip::kMjpeg,
                              {.output_format = GetParam().format});
  const auto expected = Reference(ChangingClip::kMjpeg);
  for (size_t i = 0; i < kFrames; ++i) {
    const Frame frame = *video.Next().value();
    EXPECT_EQ(frame.width(), expected[0].width);
    EXPECT_EQ(frame.height(), expected[0].height);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Devices, ChangingSize,
    testing::Values(OwnForm{"cpu", OutputFormat::kRgb},
                    OwnForm{"cpu", OutputFormat::kNative},
                    OwnForm{"openreg", OutputFormat::kRgb},
                    OwnForm{"openreg", OutputFormat::kNative}),
    [](const auto& info) {
      return info.param.device +
             (info.param.format == OutputFormat::kNative ? "_native" : "_rgb");
    });

}  // namespace
}  // namespace bulkhead::tests
