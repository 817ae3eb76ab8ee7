// SPDX-License-Identifier: Apache-2.0
// Tests the options for opening a VideoDecoder, except its output's: one
// test for each line of the README's list.
#include <filesystem>
#include <optional>

#include "tests/semantics/semantics_fixture.h"
#include "tests/support/frame_hash.h"
#include "tests/support/program.h"

namespace bulkhead::tests {
namespace {

class Opening : public Semantics {
 protected:
  // Makes a file with audio, a small video and a larger video that is marked as
  // the default.
  static std::string ThreeStreams() {
    const std::string path = TemporaryDirectory() + "/three.mkv";
    const ProgramResult made = RunFfmpeg({"-f",
                                          "lavfi",
                                          "-i",
                                          "sine=duration=1",
                                          "-f",
                                          "lavfi",
                                          "-i",
                                          "testsrc2=size=96x64:duration=1",
                                          "-f",
                                          "lavfi",
                                          "-i",
                                          "testsrc2=size=192x128:duration=1",
                                          "-map",
                                          "0",
                                          "-map",
                                          "1",
                                          "-map",
                                          "2",
                                          "-c:v",
                                          "mpeg4",
                                          "-c:a",
                                          "flac",
                                          "-disposition:v:0",
                                          "0",
                                          "-disposition:v:1",
                                          "default",
                                          path});
    EXPECT_EQ(made.exit_code, 0) << made.Describe();
    return path;
  }

  Result<VideoDecoder> OpenStream(const std::string& path,
                                  std::optional<int> stream) {
    return host().OpenVideo(path,
                            {.device = GetParam(), .stream_index = stream});
  }
};

TEST_P(Opening, AStreamIsNamedByItsIndexInTheFile) {
  const std::string path = ThreeStreams();
  const auto small = OpenStream(path, 1);
  ASSERT_TRUE(small) << small.error();
  EXPECT_EQ(small->metadata().width, 96u);
  EXPECT_EQ(small->metadata().stream_index, 1);
  EXPECT_EQ(small->metadata().stream_count, 3u);
  EXPECT_EQ(OpenStream(path, 2)->metadata().width, 192u);
}

TEST_P(Opening, WithoutAnIndexItIsTheFirstVideo) {
  const std::string path = ThreeStreams();
  EXPECT_EQ(OpenStream(path, std::nullopt)->metadata().stream_index, 1);
  EXPECT_EQ(host().Probe(path)->best_video_stream, 2) << "FFmpeg's choice";
}

TEST_P(Opening, TheBestStreamIsThatOfFfmpegUnlessTheCallerNamesOne) {
  const std::string path = ThreeStreams();
  const auto best = host().OpenVideo(
      path, {.device = GetParam(), .stream_choice = StreamChoice::kBest});
  ASSERT_TRUE(best) << best.error();
  EXPECT_EQ(best->metadata().stream_index, 2);
  EXPECT_EQ(best->metadata().width, 192u);
  const auto named =
      host().OpenVideo(path, {.device = GetParam(),
                              .stream_index = 1,
                              .stream_choice = StreamChoice::kBest});
  ASSERT_TRUE(named) << named.error();
  EXPECT_EQ(named->metadata().stream_index, 1);
}

TEST_P(Opening, AStreamThatIsNoVideoIsInvalid) {
  const std::string path = ThreeStreams();
  for (const int wrong : {0, 3, 1000, -1}) {
    const auto video = OpenStream(path, wrong);
    ASSERT_FALSE(video) << wrong;
    EXPECT_EQ(video.error().code(), Code::kInvalidArgument) << video.error();
  }
  const auto audio = OpenStream(path, 0);
  EXPECT_NE(audio.error().message().find("video streams: 1, 2"),
            std::string::npos)
      << audio.error();
}

TEST_P(Opening, AFileWithoutVideoIsNotFound) {
  const std::string path = TemporaryDirectory() + "/heard.flac";
  ASSERT_EQ(RunFfmpeg({"-f", "lavfi", "-i", "sine=duration=1", path}).exit_code,
            0);
  EXPECT_EQ(CodeOf(OpenStream(path, std::nullopt)), Code::kNotFound);
}

TEST_P(Opening, ThreadsChangeNoFrame) {
  const auto frame = [&](uint32_t threads) {
    VideoDecoder video = Open(Clip::kH264, {.threads = threads});
    return HashOf(video.FrameAt(61).value());
  };
  const std::string one = frame(1);
  EXPECT_EQ(frame(0), one) << "as many as the decoder likes";
  EXPECT_EQ(frame(3), one);
}

TEST_P(Opening, ADeviceThatDoesNotExistIsNotFound) {
  const std::string path = Generate(Clip::kH264).value();
  for (const char* device : {"cuda", "openreg:99", "cpu:-1", "no such"}) {
    const auto video = host().OpenVideo(path, {.device = device});
    ASSERT_FALSE(video) << device;
    EXPECT_TRUE(video.error().code() == Code::kNotFound ||
                video.error().code() == Code::kInvalidArgument)
        << video.error();
    EXPECT_NE(video.error().message().find(device), std::string::npos)
        << video.error();
  }
}

TEST_P(Opening, ADecoderOutlivesItsHostAndItsFile) {
  const std::string path = TemporaryDirectory() + "/gone.mp4";
  std::filesystem::copy_file(Generate(Clip::kH264).value(), path,
                             std::filesystem::copy_options::overwrite_existing);
  auto video = OpenStream(path, std::nullopt);
  ASSERT_TRUE(video) << video.error();
  std::filesystem::remove(path);
  EXPECT_EQ(video->FrameCount().value(), 120u);
  EXPECT_TRUE(video->FrameAt(100));
}

TEST_P(Opening, ApproximateFramesAreThoseOfAnExactIndexWhereTheHeaderIsRight) {
  VideoDecoder exact = Open(Clip::kH264);
  VideoDecoder guessed =
      Open(Clip::kH264, {.seek_mode = SeekMode::kApproximate});
  EXPECT_EQ(guessed.FrameCount().value(), 120u);
  for (const int64_t index : {0, 77, -1, 30}) {
    EXPECT_EQ(HashOf(guessed.FrameAt(index).value()),
              HashOf(exact.FrameAt(index).value()));
  }
  EXPECT_EQ(CodeOf(guessed.KeyFrameIndices()), Code::kInvalidArgument);
}

TEST_P(Opening, MappingsTakeThePlaceOfTheScanAndNotOfAGuess) {
  VideoOptions options{.frame_mappings = {{0, 512, true}, {512, 512, false}}};
  VideoDecoder mapped = Open(Clip::kH264, options);
  EXPECT_EQ(mapped.FrameCount().value(), 2u);
  options.seek_mode = SeekMode::kApproximate;
  EXPECT_EQ(CodeOf(TryOpen(Clip::kH264, options)), Code::kInvalidArgument);
  for (const char* wrong :
       {"", "[]", R"({"frames":1})", R"({"frames":[{"pts":1}]})", "no JSON"}) {
    EXPECT_EQ(CodeOf(ParseFrameMappings(wrong)), Code::kInvalidArgument)
        << wrong;
  }
}

TEST_P(Opening, MoreThreadsThanADecoderCanHaveAreTheCallersMistake) {
  const auto video = TryOpen(Clip::kH264, {.threads = 1000});
  EXPECT_EQ(CodeOf(video), Code::kInvalidArgument);
  EXPECT_NE(video.error().message().find("threads"), std::string::npos);
  EXPECT_TRUE(TryOpen(Clip::kH264, {.threads = 64}));
}

TEST_P(Opening, ADecoderThatWasMovedFromRefusesEveryCall) {
  VideoDecoder from = Open(Clip::kH264);
  const VideoDecoder to = std::move(from);
  const int64_t index = 0;
  const double seconds = 0;
  const Status refusals[] = {from.Next().error(),
                             from.FrameCount().error(),
                             from.KeyFrameIndices().error(),
                             from.FrameAt(0).error(),
                             from.FramesAt({&index, 1}).error(),
                             from.FramesInRange(0, 1, 1).error(),
                             from.PlayedRange().error(),
                             from.FramePlayedAt(0).error(),
                             from.FramesPlayedAt({&seconds, 1}).error(),
                             from.FramesPlayedInRange(0, 1).error(),
                             from.AllFrames().error()};
  for (const Status& refused : refusals) {
    EXPECT_EQ(refused.code(), Code::kInvalidArgument) << refused;
    EXPECT_NE(refused.message().find("was moved from"), std::string::npos);
  }
  EXPECT_EQ(from.metadata().width, 0u);
  EXPECT_EQ(from.recovery().restarts, 0u);
  EXPECT_EQ(from.worker_pid(), 0);
  EXPECT_TRUE(from.damage().empty());
  from.Rewind();
  from.Cancel();
}

INSTANTIATE_TEST_SUITE_P(Backends, Opening, testing::Values("cpu", "openreg:0"),
                         [](const auto& device) {
                           return device.param == "cpu" ? "Cpu" : "Openreg";
                         });

}  // namespace
}  // namespace bulkhead::tests
