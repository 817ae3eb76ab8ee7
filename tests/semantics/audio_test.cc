// SPDX-License-Identifier: Apache-2.0
// Tests what each request for samples of an AudioDecoder returns, and the code
// if it fails: what the README says, case by case.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bulkhead/host.h"
#include "tests/audio/audio_files.h"
#include "tests/audio/samples.h"
#include "tests/support/program.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

class Audio : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    path_ = MakeAudio("tone.flac", {"-c:a", "flac", "-sample_fmt", "s16"});
    if (path_.empty()) GTEST_SKIP() << "there is no ffmpeg on this machine";
    host_ = NewHost({});
  }

  static std::unique_ptr<Host> NewHost(const Limits& limits) {
    HostOptions options;
    options.libexec_dir = LibexecDirectory();
    options.limits = limits;
    return Host::Create(options).value();
  }

  Result<AudioDecoder> TryOpen(const Source& source,
                               AudioOptions options = {}) {
    options.device = GetParam();
    return host_->OpenAudio(source, std::move(options));
  }
  AudioDecoder Open(const Source& source, AudioOptions options = {}) {
    return TryOpen(source, std::move(options)).value();
  }

  std::string path_;
  std::unique_ptr<Host> host_;
};

TEST_P(Audio, MetadataTellsTheStream) {
  AudioDecoder audio = Open(path_, {.sample_rate = 8000, .num_channels = 1});
  const AudioMetadata& metadata = audio.metadata();
  EXPECT_EQ(metadata.codec, "flac");
  EXPECT_EQ(metadata.container, "flac");
  EXPECT_EQ(metadata.sample_rate, 44100u);
  EXPECT_EQ(metadata.num_channels, 2u);
  EXPECT_EQ(metadata.channel_layout, "stereo");
  EXPECT_EQ(metadata.sample_format, "s16");
  EXPECT_EQ(metadata.stream_index, 0);
  EXPECT_EQ(metadata.begin_seconds, 0);
  EXPECT_NEAR(metadata.duration_seconds_from_header.value_or(0), 3, 0.001);
  EXPECT_EQ(metadata.device.substr(0, 3), GetParam().substr(0, 3));
}

TEST_P(Audio, TheBestStreamIsThatOfFfmpeg) {
  const std::string path = TemporaryDirectory() + "/two.mkv";
  const auto made =
      RunFfmpeg({"-f", "lavfi", "-i", "sine=sample_rate=8000:duration=1", "-f",
                 "lavfi", "-i", "sine=sample_rate=48000:duration=1", "-map",
                 "0", "-map", "1", "-c:a", "flac", "-disposition:a:0", "0",
                 "-disposition:a:1", "default", path});
  ASSERT_EQ(made.exit_code, 0) << made.Describe();
  EXPECT_EQ(Open(path).metadata().sample_rate, 8000u);
  const AudioDecoder best = Open(path, {.stream_choice = StreamChoice::kBest});
  EXPECT_EQ(best.metadata().stream_index, 1);
  EXPECT_EQ(best.metadata().sample_rate, 48000u);
}

TEST_P(Audio, ADecoderThatWasMovedFromRefusesEveryCall) {
  AudioDecoder from = Open(path_);
  const AudioDecoder to = std::move(from);
  for (const Status& refused :
       {from.AllSamples().error(), from.SamplesPlayedInRange(0, 1).error()}) {
    EXPECT_EQ(refused.code(), Code::kInvalidArgument) << refused;
    EXPECT_NE(refused.message().find("was moved from"), std::string::npos);
  }
  EXPECT_EQ(from.metadata().sample_rate, 0u);
  EXPECT_EQ(from.recovery().restarts, 0u);
  EXPECT_EQ(from.worker_pid(), 0);
  EXPECT_TRUE(from.damage().empty());
  from.Cancel();
}

TEST_P(Audio, ARangeIsExactToTheSample) {
  AudioDecoder audio = Open(path_);
  const AudioSamples whole = audio.AllSamples().value();
  EXPECT_EQ(whole.count(), 3u * 44100);
  EXPECT_EQ(whole.pts_seconds, 0);
  EXPECT_DOUBLE_EQ(whole.duration_seconds, 3);
  const AudioSamples part = audio.SamplesPlayedInRange(0.5, 0.75).value();
  EXPECT_EQ(part.channels, 2u);
  EXPECT_EQ(part.sample_rate, 44100u);
  EXPECT_DOUBLE_EQ(part.pts_seconds, 0.5);
  EXPECT_DOUBLE_EQ(part.duration_seconds, 0.25);
  EXPECT_TRUE(Same(Interleaved(part), PartOf(whole, 22050, 33075)));
}

TEST_P(Audio, StartEqualToStopGivesNoSamples) {
  const AudioSamples none = Open(path_).SamplesPlayedInRange(1, 1).value();
  EXPECT_EQ(none.count(), 0u);
  EXPECT_EQ(none.channels, 2u);
  EXPECT_EQ(none.pts_seconds, 1);
  EXPECT_EQ(none.duration_seconds, 0);
}

TEST_P(Audio, ANegativeStartIsTheBeginning) {
  AudioDecoder audio = Open(path_);
  const AudioSamples early = audio.SamplesPlayedInRange(-7, 1).value();
  EXPECT_EQ(early.count(), 44100u);
  EXPECT_EQ(early.pts_seconds, 0);
}

TEST_P(Audio, AStopBeyondTheEndIsTheEnd) {
  EXPECT_EQ(Open(path_).SamplesPlayedInRange(2.5, 1e9)->count(), 22050u);
}

TEST_P(Audio, WithoutAStopItGoesToTheEnd) {
  EXPECT_EQ(Open(path_).SamplesPlayedInRange(2.5)->count(), 22050u);
}

TEST_P(Audio, AStartAfterTheStopIsInvalid) {
  AudioDecoder audio = Open(path_);
  EXPECT_EQ(audio.SamplesPlayedInRange(2, 1).error().code(),
            Code::kInvalidArgument);
  EXPECT_EQ(audio.SamplesPlayedInRange(std::nan("")).error().code(),
            Code::kInvalidArgument);
}

TEST_P(Audio, ARangeWithoutSamplesIsOutOfRange) {
  AudioDecoder audio = Open(path_);
  EXPECT_EQ(audio.SamplesPlayedInRange(3, 4).error().code(), Code::kOutOfRange);
  EXPECT_EQ(audio.SamplesPlayedInRange(1e12).error().code(), Code::kOutOfRange);
  EXPECT_EQ(audio.SamplesPlayedInRange(-2, -1).error().code(),
            Code::kOutOfRange);
  // The decoder still works.
  EXPECT_EQ(audio.SamplesPlayedInRange(0, 1)->count(), 44100u);
}

TEST_P(Audio, AStreamThatBeginsLateSaysWhen) {
  const std::string path = MakeAudio(
      "late.ts", {"-c:a", "mp2", "-output_ts_offset", "5", "-muxdelay", "0"});
  AudioDecoder audio = Open(path);
  EXPECT_NEAR(audio.metadata().begin_seconds, 5, 0.1);
  const AudioSamples first = audio.SamplesPlayedInRange(0, 5.5).value();
  EXPECT_DOUBLE_EQ(first.pts_seconds, audio.metadata().begin_seconds);
}

TEST_P(Audio, GapsOfTheTimestampsAreNotPlayed) {
  const std::string path =
      MakeAudio("gap.mkv", {"-c:a", "pcm_s16le", "-af",
                            "asetnsamples=441,aselect='not(between(t,1,2))'"});
  AudioDecoder audio = Open(path);
  EXPECT_NEAR(audio.metadata().duration_seconds.value_or(0), 3, 0.02);
  const AudioSamples whole = audio.AllSamples().value();
  EXPECT_NEAR(whole.duration_seconds, 2, 0.02);
  EXPECT_TRUE(Same(Interleaved(whole), SamplesByFfmpeg(path)));
  const AudioSamples part = audio.SamplesPlayedInRange(1, 1.5).value();
  EXPECT_TRUE(Same(Interleaved(part), PartOf(whole, 44100, 66150)));
}

TEST_P(Audio, AFormatThatCannotBeSoughtIsDecodedFromTheBeginning) {
  const std::string path = MakeAudio("tone.swf", {"-c:a", "libmp3lame"});
  if (path.empty()) GTEST_SKIP() << "this ffmpeg makes no swf";
  AudioDecoder audio = Open(path);
  const AudioSamples late = audio.SamplesPlayedInRange(2, 2.5).value();
  const AudioSamples whole = audio.AllSamples().value();
  const auto from = static_cast<size_t>(
      std::llround((late.pts_seconds - whole.pts_seconds) * 44100));
  EXPECT_TRUE(Same(Interleaved(late), PartOf(whole, from, from + 22050)));
}

TEST_P(Audio, RateAndChannelsMustBePlausible) {
  for (const int wrong : {-1, 0, 1'000'001}) {
    EXPECT_EQ(TryOpen(path_, {.sample_rate = wrong}).error().code(),
              Code::kInvalidArgument);
  }
  for (const int wrong : {-1, 0, 65}) {
    EXPECT_EQ(TryOpen(path_, {.num_channels = wrong}).error().code(),
              Code::kInvalidArgument);
  }
}

TEST_P(Audio, OneChannelIsTheMixOfBoth) {
  AudioDecoder audio = Open(path_, {.sample_rate = 22050, .num_channels = 1});
  const AudioSamples mono = audio.AllSamples().value();
  EXPECT_EQ(mono.channels, 1u);
  EXPECT_EQ(mono.sample_rate, 22050u);
  EXPECT_TRUE(Same(Interleaved(mono),
                   SamplesByFfmpeg(path_, {"-ar", "22050", "-ac", "1"})));
}

TEST_P(Audio, AFileWithoutAudioIsNotFound) {
  const std::string path =
      MakeAudio("silent.mkv", {"-filter_complex", "color=s=64x64:d=1", "-an"});
  EXPECT_EQ(TryOpen(path).error().code(), Code::kNotFound);
}

TEST_P(Audio, AStreamThatIsNoAudioIsInvalid) {
  const std::string path =
      MakeAudio("both.mkv", {"-filter_complex", "color=s=64x64:d=1[v]", "-map",
                             "[v]", "-map", "0:a", "-c:a", "flac"});
  EXPECT_EQ(TryOpen(path, {.stream_index = 0}).error().code(),
            Code::kInvalidArgument);
  EXPECT_EQ(TryOpen(path, {.stream_index = 9}).error().code(),
            Code::kInvalidArgument);
  EXPECT_EQ(Open(path, {.stream_index = 1}).metadata().stream_index, 1);
  EXPECT_EQ(Open(path).metadata().stream_index, 1);
}

TEST_P(Audio, MoreThanTheLimitIsRefusedByItsName) {
  host_ = NewHost({.session_bytes = 600 * 1024});
  AudioDecoder audio = Open(path_);
  const auto all = audio.AllSamples();
  ASSERT_FALSE(all);
  EXPECT_EQ(all.error().code(), Code::kResourceExhausted);
  EXPECT_NE(all.error().message().find("the limit session_bytes"),
            std::string::npos);
  EXPECT_EQ(audio.SamplesPlayedInRange(1, 2)->count(), 44100u);
}

TEST_P(Audio, MoreThanEightChannelsAreDeliveredOrMixed) {
  const std::string path =
      MakeAudio("wide.wav", {"-ac", "16", "-c:a", "pcm_s16le"});
  AudioDecoder audio = Open(path);
  EXPECT_EQ(audio.metadata().num_channels, 16u);
  const AudioSamples all = audio.AllSamples().value();
  EXPECT_EQ(all.channels, 16u);
  EXPECT_TRUE(Same(Interleaved(all), SamplesByFfmpeg(path)));
  // libswresample has no matrix for a layout that it does not know.
  auto mixed = TryOpen(path, {.num_channels = 2});
  ASSERT_TRUE(mixed) << mixed.error();
  EXPECT_EQ(mixed->AllSamples()->channels, 2u);
}

TEST_P(Audio, AnotherRateKeepsTheDuration) {
  const double seconds = Open(path_).AllSamples()->duration_seconds;
  for (const int rate : {8000, 16000, 44100, 48000, 96000}) {
    AudioDecoder audio = Open(path_, {.sample_rate = rate});
    const AudioSamples all = audio.AllSamples().value();
    EXPECT_EQ(all.sample_rate, static_cast<uint32_t>(rate));
    EXPECT_NEAR(all.duration_seconds, seconds, 1.5 / rate);
    EXPECT_TRUE(Same(Interleaved(all),
                     SamplesByFfmpeg(path_, {"-ar", std::to_string(rate)})))
        << rate;
  }
}

TEST_P(Audio, SamplesLieWithinOneUnlessTheFileHoldsFloats) {
  const AudioSamples all = Open(path_).AllSamples().value();
  for (const float sample : all.data) ASSERT_LE(std::abs(sample), 1.0f);
}

TEST_P(Audio, APreRollIsDecodedAndLeftOut) {
  for (const auto& [name, encoding] :
       {std::pair<const char*, std::vector<std::string>>{
            "p.mp3", {"-c:a", "libmp3lame"}},
        {"p.m4a", {"-c:a", "aac"}},
        {"p.ogg", {"-c:a", "libvorbis"}}}) {
    const std::string path = MakeAudio(name, encoding);
    if (path.empty()) continue;
    AudioDecoder audio = Open(path);
    const AudioSamples whole = audio.AllSamples().value();
    const double begin = audio.metadata().begin_seconds;
    const AudioSamples part =
        audio.SamplesPlayedInRange(begin + 2, begin + 2.5).value();
    EXPECT_TRUE(Same(Interleaved(part), PartOf(whole, 88200, 110250))) << name;
  }
}

TEST_P(Audio, AFileIsNamedWhereItIsMissing) {
  const auto audio = TryOpen("/no/such/file.wav");
  ASSERT_FALSE(audio);
  EXPECT_EQ(audio.error().code(), Code::kNotFound);
  EXPECT_NE(audio.error().message().find("/no/such/file.wav"),
            std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Backends, Audio, testing::Values("cpu", "openreg:1"),
                         [](const auto& device) {
                           return device.param == "cpu" ? "Cpu" : "Openreg";
                         });

}  // namespace
}  // namespace bulkhead::tests
