// SPDX-License-Identifier: Apache-2.0
// Tests the metadata of containers and streams, from decoders and from
// Host::Probe: what the README says, case by case.
// tests/sources/metadata_test.cc compares every value with ffprobe's.
#include "bulkhead/metadata.h"

#include "tests/audio/audio_files.h"
#include "tests/semantics/semantics_fixture.h"
#include "tests/support/program.h"

namespace bulkhead::tests {
namespace {

class Metadata : public Semantics {
 protected:
  // Makes a clip of 50 pictures in two seconds with these ffmpeg arguments.
  static std::string Make(const std::string& name,
                          const std::vector<std::string>& arguments) {
    const std::string path = TemporaryDirectory() + "/" + name;
    std::vector<std::string> words = {
        "-f", "lavfi", "-i", "testsrc2=size=96x64:rate=25:duration=2",
        "-f", "lavfi", "-i", "sine=sample_rate=16000:duration=3"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    words.push_back(path);
    const ProgramResult made = RunFfmpeg(words);
    EXPECT_EQ(made.exit_code, 0) << made.Describe();
    return path;
  }

  VideoDecoder OpenFile(const std::string& path, VideoOptions options = {}) {
    options.device = GetParam();
    return host().OpenVideo(path, std::move(options)).value();
  }
  ContainerMetadata Probe(const std::string& path, bool scan = false) {
    return host().Probe(path, {.device = GetParam(), .scan = scan}).value();
  }

  static void ExpectSame(const StreamTiming& a, const StreamTiming& b) {
    EXPECT_EQ(a.begin_seconds_from_header, b.begin_seconds_from_header);
    EXPECT_EQ(a.duration_seconds_from_header, b.duration_seconds_from_header);
    EXPECT_EQ(a.frame_count_from_header, b.frame_count_from_header);
    EXPECT_EQ(a.begin_seconds_from_content, b.begin_seconds_from_content);
    EXPECT_NEAR(a.end_seconds_from_content.value_or(-1),
                b.end_seconds_from_content.value_or(-1), 1e-9);
    EXPECT_EQ(a.frame_count_from_content, b.frame_count_from_content);
    EXPECT_EQ(a.begin_seconds, b.begin_seconds);
    EXPECT_NEAR(a.duration_seconds.value_or(-1),
                b.duration_seconds.value_or(-1), 1e-9);
    EXPECT_NEAR(a.end_seconds.value_or(-1), b.end_seconds.value_or(-1), 1e-9);
    EXPECT_EQ(a.frame_count, b.frame_count);
    EXPECT_NEAR(a.average_fps.value_or(-1), b.average_fps.value_or(-1), 1e-9);
  }
};

TEST_P(Metadata, OfTheHeaderIsThereWhenAFileIsOpened) {
  const VideoMetadata metadata = Open(Clip::kH264).metadata();
  EXPECT_EQ(metadata.codec, "h264");
  EXPECT_EQ(metadata.stream_index, 0);
  EXPECT_EQ(metadata.duration_seconds_from_header, 4.8);
  EXPECT_EQ(metadata.begin_seconds_from_header, 0);
  EXPECT_EQ(metadata.frame_count_from_header, 120u);
  EXPECT_GT(metadata.bit_rate, 0);
  EXPECT_EQ(metadata.average_frame_rate.value(), 25);
  EXPECT_EQ(metadata.base_frame_rate.value(), 25);
  EXPECT_EQ(metadata.pixel_format, "yuv420p");
  EXPECT_EQ(metadata.width, 320u);
  EXPECT_EQ(metadata.height, 240u);
}

TEST_P(Metadata, OfTheContentIsThereOnceAnIndexWasMade) {
  VideoDecoder video = Open(Clip::kMpeg2);
  EXPECT_EQ(video.metadata().begin_seconds_from_content, std::nullopt);
  EXPECT_EQ(video.metadata().end_seconds_from_content, std::nullopt);
  EXPECT_EQ(video.metadata().frame_count_from_content, std::nullopt);
  ASSERT_TRUE(video.FrameCount());
  const VideoMetadata& metadata = video.metadata();
  EXPECT_EQ(metadata.begin_seconds_from_content,
            video.FrameAt(0)->pts_seconds());
  EXPECT_EQ(metadata.end_seconds_from_content, metadata.end_seconds);
  EXPECT_EQ(metadata.frame_count_from_content, 48u);
  EXPECT_EQ(metadata.frame_count, 48u);
  EXPECT_NEAR(*metadata.duration_seconds, 2, 1e-9);
  EXPECT_NEAR(*metadata.average_fps, 24, 1e-6);
}

TEST_P(Metadata, OfTheContentIsNeverThereWithoutAScan) {
  VideoDecoder video = Open(Clip::kH264, {.seek_mode = SeekMode::kApproximate});
  EXPECT_EQ(video.FrameCount().value(), 120u);
  EXPECT_EQ(video.metadata().frame_count_from_content, std::nullopt);
  EXPECT_EQ(video.metadata().end_seconds_from_content, std::nullopt);
  EXPECT_EQ(video.metadata().end_seconds, 4.8);
}

TEST_P(Metadata, WithoutADurationOfTheStreamThatOfTheContainerCounts) {
  const std::string path = Make("untold.mkv", {"-c:v", "mpeg4"});
  const VideoMetadata metadata = OpenFile(path).metadata();
  EXPECT_EQ(metadata.duration_seconds_from_header, std::nullopt);
  EXPECT_EQ(metadata.frame_count_from_header, std::nullopt);
  EXPECT_NEAR(metadata.duration_seconds.value_or(0), 3, 0.1)
      << "as long as its sound";
  // The frame rate times the duration.
  EXPECT_EQ(metadata.frame_count,
            static_cast<uint64_t>(*metadata.duration_seconds * 25));
  EXPECT_EQ(metadata.end_seconds,
            metadata.begin_seconds + *metadata.duration_seconds);
  VideoDecoder exact = OpenFile(path);
  EXPECT_EQ(exact.FrameCount().value(), 50u);
  EXPECT_EQ(exact.metadata().frame_count, 50u);
  EXPECT_NEAR(exact.metadata().duration_seconds.value_or(0), 2, 0.002);
}

TEST_P(Metadata, WhatNothingTellsIsUnknown) {
  const std::string path =
      Make("bare.264", {"-map", "0", "-c:v", "libx264", "-bsf:v",
                        "filter_units=remove_types=6"});
  const VideoMetadata metadata = OpenFile(path).metadata();
  EXPECT_EQ(metadata.duration_seconds, std::nullopt);
  EXPECT_EQ(metadata.end_seconds, std::nullopt);
  EXPECT_EQ(metadata.frame_count, std::nullopt);
  VideoDecoder guessing = OpenFile(path, {.seek_mode = SeekMode::kApproximate});
  EXPECT_EQ(CodeOf(guessing.FrameCount()), Code::kInvalidArgument);
}

// Also, its begin and end are valid arguments for requests by time.
TEST_P(Metadata, OfADecoderIsThatOfAProbe) {
  std::vector<std::string> files = SharedMedia();
  for (const Clip clip : AllClips()) files.push_back(Generate(clip).value());
  for (const std::string& path : files) {
    SCOPED_TRACE(path);
    auto video = host().OpenVideo(path, {.device = GetParam()});
    if (!video) continue;
    const StreamMetadata probed =
        Probe(path).streams.at(video->metadata().stream_index);
    const VideoMetadata metadata = video->metadata();
    ExpectSame(metadata, probed);
    EXPECT_EQ(metadata.codec, probed.codec);
    EXPECT_EQ(metadata.rotation, probed.rotation);
    EXPECT_EQ(metadata.color_space, probed.color_space);
    EXPECT_EQ(metadata.color_range, probed.color_range);
    EXPECT_EQ(metadata.base_frame_rate.value(), probed.base_frame_rate.value());
    EXPECT_EQ(metadata.sample_aspect_ratio.value(),
              probed.sample_aspect_ratio.value());
    const auto played = video->PlayedRange();
    if (!played) continue;
    EXPECT_EQ(video->metadata().begin_seconds, played->begin);
    ASSERT_TRUE(video->metadata().end_seconds);
    EXPECT_LE(*video->metadata().end_seconds, played->end);
  }
}

TEST_P(Metadata, SizesAreThoseAfterRotation) {
  VideoDecoder video = Open(Clip::kRotated);
  EXPECT_EQ(video.metadata().width, 240u);
  EXPECT_EQ(video.metadata().height, 320u);
  EXPECT_EQ(video.FrameAt(0)->width(), 240u);
  EXPECT_EQ(video.metadata().rotation % 180, 90);
  const StreamMetadata probed =
      Probe(Generate(Clip::kRotated).value()).streams[0];
  EXPECT_EQ(probed.width, 240u);
  EXPECT_EQ(probed.height, 320u);
  EXPECT_EQ(probed.rotation, video.metadata().rotation);
}

TEST_P(Metadata, PixelsHaveAnAspectIfTheFileTellsIt) {
  const std::vector<std::string> wide = {"-map",  "0",   "-c:v",
                                         "mpeg4", "-vf", "setsar=4/3"};
  const VideoMetadata told = OpenFile(Make("wide.mp4", wide)).metadata();
  EXPECT_EQ(told.sample_aspect_ratio.numerator, 4);
  EXPECT_EQ(told.sample_aspect_ratio.denominator, 3);
  EXPECT_EQ(told.width, 96u) << "pictures are not stretched";
  const VideoMetadata untold =
      OpenFile(Make("png.mkv", {"-map", "0", "-vf", "setsar=0", "-c:v", "png"}))
          .metadata();
  EXPECT_EQ(untold.sample_aspect_ratio.value(), 0);
}

TEST_P(Metadata, ColoursAreReportedAsTheyAreMarked) {
  const VideoMetadata marked =
      OpenFile(
          Make("marked.mp4", {"-map", "0", "-c:v", "libx264", "-colorspace",
                              "bt709", "-color_primaries", "bt709",
                              "-color_trc", "bt709", "-color_range", "pc"}))
          .metadata();
  EXPECT_EQ(marked.color_space, 1);
  EXPECT_EQ(marked.color_primaries, 1);
  EXPECT_EQ(marked.color_transfer, 1);
  EXPECT_EQ(marked.color_range, 2);
  const VideoMetadata unmarked = Open(Clip::kH264).metadata();
  EXPECT_EQ(unmarked.color_space, 2);
  EXPECT_EQ(unmarked.color_primaries, 2);
  EXPECT_EQ(unmarked.color_transfer, 2);
}

TEST_P(Metadata, OfAudioTellsRateChannelsAndFormat) {
  const std::string path =
      Make("sound.mkv", {"-map", "1", "-c:a", "flac", "-ac", "2"});
  const auto audio = host().OpenAudio(path, {.device = GetParam()});
  ASSERT_TRUE(audio) << audio.error();
  const AudioMetadata& metadata = audio->metadata();
  EXPECT_EQ(metadata.sample_rate, 16'000u);
  EXPECT_EQ(metadata.num_channels, 2u);
  EXPECT_EQ(metadata.sample_format, "s16");
  EXPECT_EQ(metadata.begin_seconds, 0);
  EXPECT_EQ(metadata.duration_seconds_from_header, std::nullopt);
  EXPECT_NEAR(metadata.duration_seconds.value_or(0), 3, 0.01)
      << "of the container";
  EXPECT_EQ(metadata.end_seconds, metadata.duration_seconds);
  const StreamMetadata probed = Probe(path).streams.at(0);
  EXPECT_EQ(probed.sample_rate, 16'000u);
  EXPECT_EQ(probed.channels, 2u);
  EXPECT_EQ(probed.sample_format, "s16");
  EXPECT_EQ(probed.duration_seconds, metadata.duration_seconds);
}

TEST_P(Metadata, OfTheContainerNamesItsBestStreams) {
  const ContainerMetadata both =
      Probe(Make("both.mp4", {"-map", "1", "-map", "0", "-c:v", "mpeg4"}));
  EXPECT_EQ(both.best_video_stream, 1);
  EXPECT_EQ(both.best_audio_stream, 0);
  EXPECT_EQ(both.streams.size(), 2u);
  EXPECT_NEAR(both.duration_seconds.value_or(0), 3, 0.1);
  EXPECT_GT(both.bit_rate.value_or(0), 0);
  EXPECT_NE(both.format.find("mp4"), std::string::npos);
  const ContainerMetadata silent = Probe(Generate(Clip::kH264).value());
  EXPECT_EQ(silent.best_video_stream, 0);
  EXPECT_EQ(silent.best_audio_stream, std::nullopt);
}

TEST_P(Metadata, OfAScanIsThatOfTheIndex) {
  for (const Clip clip : AllClips()) {
    SCOPED_TRACE(ClipName(clip));
    VideoDecoder video = Open(clip);
    ASSERT_TRUE(video.FrameCount());
    const ContainerMetadata probed = Probe(Generate(clip).value(), true);
    ExpectSame(video.metadata(), probed.streams.at(0));
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, Metadata,
                         testing::Values("cpu", "openreg:0"),
                         [](const auto& device) {
                           return device.param == "cpu" ? "Cpu" : "Openreg";
                         });

}  // namespace
}  // namespace bulkhead::tests
