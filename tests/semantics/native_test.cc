// SPDX-License-Identifier: Apache-2.0
// Tests OutputFormat::kNative: a VideoDecoder's frames are the planes that the
// decoder made.
#include <signal.h>

#include <cstring>

#include "tests/semantics/semantics_fixture.h"
#include "tests/support/frame_hash.h"

namespace bulkhead::tests {
namespace {

VideoOptions Native() { return {.output_format = OutputFormat::kNative}; }

class NativeFrames : public Semantics {
 protected:
  VideoDecoder OpenNative(Clip clip) { return Open(clip, Native()); }
  static std::vector<std::string> Reference(Clip clip) {
    return NativeHashesByFfmpeg(Generate(clip).value()).value();
  }
  static Result<Frame> Fetched(Result<std::optional<Frame>> frame) {
    if (!frame) return frame.error();
    return **std::move(frame);
  }
};

TEST_P(NativeFrames, AreTheRawVideoOfFfmpeg) {
  for (const Clip clip : AllClips()) {
    SCOPED_TRACE(ClipName(clip));
    VideoDecoder video = OpenNative(clip);
    EXPECT_EQ(HashesOfRest(video), Reference(clip));
  }
}

TEST_P(NativeFrames, AreTheSameAtAnyPlaceInAnyOrder) {
  for (const Clip clip : {Clip::kH264, Clip::kMpeg2}) {
    const std::vector<std::string> expected = Reference(clip);
    VideoDecoder video = OpenNative(clip);
    for (size_t i = 0; i < 16; ++i) {
      const size_t at = (i * 37 + 29) % expected.size();
      EXPECT_EQ(HashOf(video.FrameAt(static_cast<int64_t>(at)).value()),
                expected[at])
          << ClipName(clip) << " " << at;
    }
  }
}

TEST_P(NativeFrames, AreTheSameAfterTheDeathOfAWorker) {
  const std::vector<std::string> expected = Reference(Clip::kH264);
  VideoDecoder video = OpenNative(Clip::kH264);
  for (size_t i = 0; i < expected.size(); ++i) {
    // Later, the worker may have published all frames already.
    if (i % 25 == 10 && i < 100) {
      ASSERT_EQ(kill(video.worker_pid(), SIGKILL), 0);
    }
    const auto frame = video.Next();
    ASSERT_TRUE(frame) << frame.error();
    ASSERT_TRUE(*frame);
    EXPECT_EQ(HashOf(**frame), expected[i]) << i;
  }
  EXPECT_EQ(video.recovery().restarts, 4u);
}

// Frames hold slots to which the decoder may refer as well; what the decoder
// makes later goes elsewhere.
TEST_P(NativeFrames, StayWhatTheyAreWhileTheyAreHeld) {
  const std::vector<std::string> expected = Reference(Clip::kH264);
  VideoDecoder video = OpenNative(Clip::kH264);
  std::vector<Frame> held;
  for (size_t i = 0; i < 4; ++i) held.push_back(*video.Next().value());
  for (size_t i = 4; i < 40; ++i) {
    EXPECT_EQ(HashOf(*video.Next().value()), expected[i]) << i;
  }
  for (size_t i = 0; i < held.size(); ++i) {
    EXPECT_EQ(HashOf(held[i]), expected[i]) << i;
  }
}

// A decoder that refers to slots leaves enough of them for frames.
TEST_P(NativeFrames, AsManyAsTheLimitSaysCanBeHeld) {
  constexpr size_t kSlots = 8;  // Limits::frame_slots
  const std::vector<std::string> expected = Reference(Clip::kH264);
  VideoDecoder video = OpenNative(Clip::kH264);
  for (int round = 0; round < 2; ++round) {
    std::vector<Frame> held;
    std::optional<Status> refused;
    while (!refused && held.size() < 30) {
      // In order, which lets the worker decode ahead, and by number.
      auto frame = round == 0
                       ? Fetched(video.Next())
                       : video.FrameAt(static_cast<int64_t>(held.size() + 50));
      if (frame) {
        held.push_back(*std::move(frame));
      } else {
        refused = frame.error();
      }
    }
    EXPECT_GE(held.size(), kSlots - 1);
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->code(), Code::kResourceExhausted) << *refused;
    EXPECT_NE(refused->message().find("frame_slots"), std::string::npos)
        << *refused;
    for (size_t i = 0; i < held.size(); ++i) {
      EXPECT_EQ(HashOf(held[i]), expected[round == 0 ? i : i + 50]);
    }
    const size_t next = held.size();
    held.clear();
    if (round == 0) {
      EXPECT_EQ(HashOf(*video.Next().value()), expected[next]);
    }
  }
  EXPECT_EQ(video.recovery().restarts, 0u);
}

TEST_P(NativeFrames, TellFormatPlanesAndColours) {
  VideoDecoder video = OpenNative(Clip::kOddSize);
  EXPECT_EQ(video.metadata().pixel_format, "yuv420p");
  EXPECT_EQ(video.metadata().width, 175u);
  EXPECT_EQ(video.metadata().height, 143u);
  const Frame frame = *video.Next().value();
  EXPECT_EQ(frame.format(), OutputFormat::kNative);
  EXPECT_EQ(frame.pixel_format(), "yuv420p");
  EXPECT_EQ(frame.width(), 175u);
  EXPECT_EQ(frame.height(), 143u);
  EXPECT_EQ(frame.color().range, 1);
  EXPECT_EQ(frame.color().chroma_location, video.metadata().chroma_location);
  EXPECT_EQ(frame.field_order(), FieldOrder::kProgressive);
  ASSERT_EQ(frame.plane_count(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    const Plane plane = frame.plane(i);
    EXPECT_EQ(plane.width, i == 0 ? 175u : 88u);
    EXPECT_EQ(plane.height, i == 0 ? 143u : 72u);
    EXPECT_EQ(plane.samples, 1u);
    EXPECT_EQ(plane.type, SampleType::kUint8);
    EXPECT_GE(plane.stride, plane.width);
    EXPECT_EQ(plane.row(0).data(), plane.data);
    EXPECT_EQ(plane.row(1).size(), plane.width);
  }
  EXPECT_THROW((void)frame.plane(3), StatusError);
}

TEST_P(NativeFrames, OfRgbStreamsHaveOnePlane) {
  const Frame frame = *OpenNative(Clip::kPng).Next().value();
  EXPECT_EQ(frame.pixel_format(), "rgb24");
  ASSERT_EQ(frame.plane_count(), 1u);
  EXPECT_EQ(frame.plane(0).samples, 3u);
}

TEST_P(NativeFrames, AreNotTurned) {
  const VideoDecoder video = OpenNative(Clip::kRotated);
  EXPECT_EQ(video.metadata().width, 320u);
  EXPECT_EQ(video.metadata().height, 240u);
  EXPECT_NE(video.metadata().rotation, 0);
  const VideoDecoder upright = Open(Clip::kRotated);
  EXPECT_EQ(upright.metadata().rotation, video.metadata().rotation);
  EXPECT_EQ(upright.metadata().width, 240u);
}

TEST_P(NativeFrames, SurviveAsSnapshotsAndPrivateMappings) {
  const std::vector<std::string> expected = Reference(Clip::kOddSize);
  std::optional<VideoDecoder> video = OpenNative(Clip::kOddSize);
  std::optional<Frame> frame = *video->Next().value();
  const Frame copy = frame->Snapshot();
  const Frame mapped = frame->MapPrivate().value();
  EXPECT_EQ(copy.plane(1).stride, copy.plane(1).width);
  frame.reset();
  while (video->Next().value()) {
  }
  video.reset();
  for (const Frame* kept : {&copy, &mapped}) {
    EXPECT_EQ(kept->pixel_format(), "yuv420p");
    EXPECT_EQ(HashOf(*kept), expected[0]);
  }
  auto* const mine = const_cast<std::byte*>(mapped.plane(2).data);
  mine[0] = ~mine[0];
  EXPECT_NE(HashOf(mapped), expected[0]);
  EXPECT_EQ(HashOf(copy), expected[0]);
}

TEST_P(NativeFrames, HaveNoPixelsOfRgb) {
  const Frame frame = *OpenNative(Clip::kH264).Next().value();
  const auto message = [](const auto& call) -> std::string {
    try {
      call();
    } catch (const StatusError& error) {
      EXPECT_EQ(error.status().code(), Code::kInvalidArgument);
      return error.what();
    }
    return "";
  };
  for (const std::string& text :
       {message([&] { (void)frame.row(0); }),
        message([&] { (void)frame.data(); }),
        message([&] { (void)frame.stride(); }),
        message([&] { (void)frame.shape(); }),
        message([&] { (void)frame.strides(); }),
        message([&] { (void)frame.numbers<uint8_t>(0); })}) {
    EXPECT_NE(text.find("use planes()"), std::string::npos) << text;
  }
}

TEST_P(NativeFrames, RefuseWhatIsForRgb) {
  const auto refused = [&](VideoOptions options) {
    options.output_format = OutputFormat::kNative;
    return TryOpen(Clip::kH264, std::move(options));
  };
  const auto resized = refused({.transforms = {Resize{10, 10}}});
  ASSERT_EQ(CodeOf(resized), Code::kInvalidArgument);
  EXPECT_NE(resized.error().message().find("without transforms"),
            std::string::npos)
      << resized.error();
  for (const OutputDtype dtype : {OutputDtype::kFloat32, OutputDtype::kAuto}) {
    EXPECT_EQ(CodeOf(refused({.output_dtype = dtype})), Code::kInvalidArgument);
  }
  VideoDecoder video = OpenNative(Clip::kH264);
  const int64_t indices[] = {1, 2};
  const double times[] = {1.0};
  for (const auto& batch :
       {video.FramesAt(indices), video.FramesInRange(0, 2),
        video.FramesPlayedAt(times), video.FramesPlayedInRange(0, 1),
        video.AllFrames(), video.AllFrames(10)}) {
    ASSERT_EQ(CodeOf(batch), Code::kInvalidArgument);
    EXPECT_NE(batch.error().message().find("OutputFormat::kRgb"),
              std::string::npos)
        << batch.error();
  }
  EXPECT_TRUE(video.Next());
}

TEST_P(NativeFrames, RgbFramesHaveAPlaneToo) {
  const Frame frame = *Open(Clip::kOddSize).Next().value();
  EXPECT_EQ(frame.format(), OutputFormat::kRgb);
  EXPECT_EQ(frame.pixel_format(), "rgb24");
  ASSERT_EQ(frame.planes().size(), 1u);
  const Plane plane = frame.plane(0);
  EXPECT_EQ(plane.data, frame.data());
  EXPECT_EQ(plane.stride, frame.stride());
  EXPECT_EQ(plane.row(142).data(), frame.row(142).data());
  EXPECT_EQ(plane.row(142).size(), frame.row(142).size());
  EXPECT_EQ(frame.color(), Color());
  const Frame floats =
      *Open(Clip::kOddSize, {.output_dtype = OutputDtype::kFloat32})
           .Next()
           .value();
  EXPECT_EQ(floats.pixel_format(), "rgbf32le");
  EXPECT_EQ(floats.plane(0).type, SampleType::kFloat32);
}

INSTANTIATE_TEST_SUITE_P(Devices, NativeFrames,
                         testing::Values("cpu", "openreg"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace bulkhead::tests
