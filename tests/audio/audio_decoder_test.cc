// SPDX-License-Identifier: Apache-2.0
// AudioDecoder end to end: its samples are those of the ffmpeg command, bit for
// bit, on every backend of ours, whatever happens to the workers.
#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "bulkhead/host.h"
#include "tests/audio/audio_files.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

std::unique_ptr<Host> NewHost() {
  HostOptions options;
  options.libexec_dir = LibexecDirectory();
  return Host::Create(options).value();
}

std::vector<float> Interleaved(const AudioSamples& samples) {
  std::vector<float> out;
  out.reserve(samples.data.size());
  for (size_t i = 0; i < samples.count(); ++i) {
    for (uint32_t c = 0; c < samples.channels; ++c) {
      out.push_back(samples.channel(c)[i]);
    }
  }
  return out;
}

// Not by value: a NaN is one too.
bool Same(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() &&
         std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

// Of samples [from, to) of the whole.
std::vector<float> PartOf(const AudioSamples& whole, size_t from, size_t to) {
  const auto all = Interleaved(whole);
  return {all.begin() + static_cast<ptrdiff_t>(from * whole.channels),
          all.begin() + static_cast<ptrdiff_t>(to * whole.channels)};
}

class AudioDecoderTest : public testing::Test {
 protected:
  void SetUp() override {
    path_ = MakeAudio("tone.flac", {"-c:a", "flac", "-sample_fmt", "s16"});
    if (path_.empty()) GTEST_SKIP() << "there is no ffmpeg on this machine";
    host_ = NewHost();
  }

  AudioDecoder Open(const std::string& path, AudioOptions options = {}) {
    return host_->OpenAudio(path, std::move(options)).value();
  }

  std::string path_;
  std::unique_ptr<Host> host_;
};

class OnDevice : public AudioDecoderTest,
                 public testing::WithParamInterface<const char*> {};

TEST_P(OnDevice, EveryKindOfFileIsDecodedAsFfmpegDoes) {
  const std::pair<const char*, std::vector<std::string>> kFiles[] = {
      {"u8.wav", {"-c:a", "pcm_u8"}},
      {"s16.wav", {"-c:a", "pcm_s16le"}},
      {"s24.wav", {"-c:a", "pcm_s24le"}},
      {"s32.wav", {"-c:a", "pcm_s32le"}},
      {"f32.wav", {"-c:a", "pcm_f32le"}},
      {"f64.wav", {"-c:a", "pcm_f64le"}},
      {"sixteen.wav", {"-ac", "16", "-c:a", "pcm_s16le"}},
      {"sixteen_f32.wav", {"-ac", "16", "-c:a", "pcm_f32le"}},
      {"a.flac", {"-c:a", "flac"}},
      {"a.m4a", {"-c:a", "aac"}},
      {"a.mp3", {"-c:a", "libmp3lame"}},
      {"a.opus", {"-ar", "48000", "-c:a", "libopus"}},
      {"a.ogg", {"-c:a", "libvorbis"}},
      {"a.ac3", {"-ar", "48000", "-c:a", "ac3"}},
      {"a.swf", {"-c:a", "libmp3lame"}}};
  for (const auto& [name, encoding] : kFiles) {
    const std::string path = MakeAudio(name, encoding);
    if (path.empty()) continue;
    AudioDecoder audio = Open(path, {.device = GetParam()});
    const auto all = audio.AllSamples();
    ASSERT_TRUE(all) << name << ": " << all.error();
    EXPECT_TRUE(Same(Interleaved(*all), SamplesByFfmpeg(path))) << name;
  }
}

TEST_P(OnDevice, EverySharedFileIsDecodedAsFfmpegDoes) {
  const auto files = SharedMedia();
  if (files.empty()) GTEST_SKIP() << "BULKHEAD_SHARED is not set";
  int heard = 0;
  for (const std::string& path : files) {
    const auto expected = SamplesByFfmpeg(path);
    auto audio = host_->OpenAudio(path, {.device = GetParam()});
    if (!audio) {
      EXPECT_TRUE(expected.empty()) << path << ": " << audio.error();
      continue;
    }
    const auto all = audio->AllSamples();
    ASSERT_TRUE(all) << path << ": " << all.error();
    EXPECT_TRUE(Same(Interleaved(*all), expected)) << path;
    ++heard;
  }
  RecordProperty("files", heard);
  EXPECT_GT(heard, 50);
}

TEST_P(OnDevice, ChunksMakeUpTheWholeAlsoResampled) {
  const std::string aac = MakeAudio("chunks.m4a", {"-c:a", "aac"});
  for (const std::string& path : {path_, aac}) {
    for (const int rate : {44100, 48000, 11025}) {
      AudioDecoder audio =
          Open(path, {.device = GetParam(), .sample_rate = rate});
      const AudioSamples whole = audio.AllSamples().value();
      std::vector<float> chunks;
      for (double at = audio.metadata().begin_seconds;; at += 0.37) {
        auto chunk = audio.SamplesPlayedInRange(at, at + 0.37);
        if (!chunk) {
          EXPECT_EQ(chunk.error().code(), Code::kOutOfRange);
          break;
        }
        const auto values = Interleaved(*chunk);
        chunks.insert(chunks.end(), values.begin(), values.end());
      }
      EXPECT_TRUE(Same(chunks, Interleaved(whole))) << path << " " << rate;
    }
  }
}

TEST_P(OnDevice, ThoseOfARandomRangeAreThoseOfTheWhole) {
  const std::string mp3 = MakeAudio("random.mp3", {"-c:a", "libmp3lame"});
  for (const std::string& path : {path_, mp3}) {
    AudioDecoder audio =
        Open(path, {.device = GetParam(), .sample_rate = 16000});
    const AudioSamples whole = audio.AllSamples().value();
    std::mt19937 random(3);
    for (int i = 0; i < 20; ++i) {
      const size_t from = random() % whole.count();
      const size_t to = std::min<size_t>(from + random() % 4000, whole.count());
      const double begin = audio.metadata().begin_seconds;
      const auto range =
          audio.SamplesPlayedInRange(begin + static_cast<double>(from) / 16000,
                                     begin + static_cast<double>(to) / 16000);
      ASSERT_TRUE(range) << range.error();
      EXPECT_TRUE(Same(Interleaved(*range), PartOf(whole, from, to)))
          << path << ", " << from << " to " << to;
    }
  }
}

TEST_P(OnDevice, AWorkerThatIsKilledInMidStreamCostsNothing) {
  const std::string path =
      MakeAudio("long.m4a", {"-c:a", "aac", "-b:a", "64k"}, 120);
  const AudioSamples whole =
      Open(path, {.device = GetParam()}).AllSamples().value();
  // The worker may be done before it is hit.
  for (int attempt = 0; attempt < 20; ++attempt) {
    std::atomic<int> recoveries = 0;
    AudioDecoder audio = Open(
        path, {.device = GetParam(),
               .recovery_observer = [&](const Recovery&) { ++recoveries; }});
    const pid_t worker = audio.worker_pid();
    std::thread killer([worker] {
      const std::string status = "/proc/" + std::to_string(worker) + "/stat";
      const auto used = [&status] {
        std::ifstream file(status);
        std::string field;
        // Its 14th is the time in user mode, in hundredths of a second.
        for (int i = 0; i < 14 && file >> field; ++i) {
        }
        return std::atol(field.c_str());
      };
      const long before = used();
      for (int i = 0; i < 100'000 && used() < before + 5; ++i) {
        std::this_thread::yield();
      }
      kill(worker, SIGKILL);
    });
    const auto all = audio.AllSamples();
    killer.join();
    ASSERT_TRUE(all) << all.error();
    ASSERT_TRUE(Same(all->data, whole.data));
    if (recoveries == 0) continue;
    EXPECT_GE(audio.recovery().restarts, 1u);
    return;
  }
  FAIL() << "it was always done before";
}

TEST_P(OnDevice, AWorkerThatIsKilledBetweenTwoRangesCostsNothing) {
  AudioDecoder audio = Open(path_, {.device = GetParam()});
  const AudioSamples whole = audio.AllSamples().value();
  (void)audio.SamplesPlayedInRange(0, 1).value();
  ASSERT_EQ(kill(audio.worker_pid(), SIGKILL), 0);
  const AudioSamples second = audio.SamplesPlayedInRange(1, 2).value();
  EXPECT_TRUE(Same(Interleaved(second), PartOf(whole, 44100, 88200)));
  EXPECT_EQ(audio.recovery().restarts, 1u);
}

INSTANTIATE_TEST_SUITE_P(Backends, OnDevice,
                         testing::Values("cpu", "openreg:1"),
                         [](const auto& info) {
                           return std::string(info.param).substr(0, 3);
                         });

// The semantics, a row a test.

TEST_F(AudioDecoderTest, MetadataTellsTheStream) {
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
  EXPECT_EQ(metadata.device, "cpu:0");
}

TEST_F(AudioDecoderTest, ARangeIsExactToTheSample) {
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

TEST_F(AudioDecoderTest, StartEqualToStopGivesNoSamples) {
  const AudioSamples none = Open(path_).SamplesPlayedInRange(1, 1).value();
  EXPECT_EQ(none.count(), 0u);
  EXPECT_EQ(none.channels, 2u);
  EXPECT_EQ(none.pts_seconds, 1);
  EXPECT_EQ(none.duration_seconds, 0);
}

TEST_F(AudioDecoderTest, ANegativeStartIsTheBeginning) {
  AudioDecoder audio = Open(path_);
  const AudioSamples early = audio.SamplesPlayedInRange(-7, 1).value();
  EXPECT_EQ(early.count(), 44100u);
  EXPECT_EQ(early.pts_seconds, 0);
}

TEST_F(AudioDecoderTest, AStopBeyondTheEndIsTheEnd) {
  EXPECT_EQ(Open(path_).SamplesPlayedInRange(2.5, 1e9)->count(), 22050u);
}

TEST_F(AudioDecoderTest, WithoutAStopItGoesToTheEnd) {
  EXPECT_EQ(Open(path_).SamplesPlayedInRange(2.5)->count(), 22050u);
}

TEST_F(AudioDecoderTest, AStartAfterTheStopIsInvalid) {
  AudioDecoder audio = Open(path_);
  EXPECT_EQ(audio.SamplesPlayedInRange(2, 1).error().code(),
            Code::kInvalidArgument);
  EXPECT_EQ(audio.SamplesPlayedInRange(std::nan("")).error().code(),
            Code::kInvalidArgument);
}

TEST_F(AudioDecoderTest, ARangeWithoutSamplesIsOutOfRange) {
  AudioDecoder audio = Open(path_);
  EXPECT_EQ(audio.SamplesPlayedInRange(3, 4).error().code(), Code::kOutOfRange);
  EXPECT_EQ(audio.SamplesPlayedInRange(1e12).error().code(), Code::kOutOfRange);
  EXPECT_EQ(audio.SamplesPlayedInRange(-2, -1).error().code(),
            Code::kOutOfRange);
  // And the decoder goes on.
  EXPECT_EQ(audio.SamplesPlayedInRange(0, 1)->count(), 44100u);
}

TEST_F(AudioDecoderTest, AStreamThatBeginsLateSaysWhen) {
  const std::string path = MakeAudio(
      "late.ts", {"-c:a", "mp2", "-output_ts_offset", "5", "-muxdelay", "0"});
  AudioDecoder audio = Open(path);
  EXPECT_NEAR(audio.metadata().begin_seconds, 5, 0.1);
  const AudioSamples first = audio.SamplesPlayedInRange(0, 5.5).value();
  EXPECT_DOUBLE_EQ(first.pts_seconds, audio.metadata().begin_seconds);
}

TEST_F(AudioDecoderTest, AFormatThatCannotBeSoughtIsDecodedFromTheBeginning) {
  const std::string path = MakeAudio("tone.swf", {"-c:a", "libmp3lame"});
  if (path.empty()) GTEST_SKIP() << "this ffmpeg makes no swf";
  AudioDecoder audio = Open(path);
  const AudioSamples late = audio.SamplesPlayedInRange(2, 2.5).value();
  const AudioSamples whole = audio.AllSamples().value();
  const auto from = static_cast<size_t>(
      std::llround((late.pts_seconds - whole.pts_seconds) * 44100));
  EXPECT_TRUE(Same(Interleaved(late), PartOf(whole, from, from + 22050)));
}

TEST_F(AudioDecoderTest, RateAndChannelsMustBePlausible) {
  for (const int wrong : {-1, 0, 1'000'001}) {
    EXPECT_EQ(host_->OpenAudio(path_, {.sample_rate = wrong}).error().code(),
              Code::kInvalidArgument);
  }
  for (const int wrong : {-1, 0, 65}) {
    EXPECT_EQ(host_->OpenAudio(path_, {.num_channels = wrong}).error().code(),
              Code::kInvalidArgument);
  }
}

TEST_F(AudioDecoderTest, OneChannelIsTheMixOfBoth) {
  AudioDecoder audio = Open(path_, {.sample_rate = 22050, .num_channels = 1});
  const AudioSamples mono = audio.AllSamples().value();
  EXPECT_EQ(mono.channels, 1u);
  EXPECT_EQ(mono.sample_rate, 22050u);
  EXPECT_TRUE(Same(Interleaved(mono),
                   SamplesByFfmpeg(path_, {"-ar", "22050", "-ac", "1"})));
}

TEST_F(AudioDecoderTest, AFileWithoutAudioIsNotFound) {
  const std::string path =
      MakeAudio("silent.mkv", {"-filter_complex", "color=s=64x64:d=1", "-an"});
  EXPECT_EQ(host_->OpenAudio(path).error().code(), Code::kNotFound);
}

TEST_F(AudioDecoderTest, AStreamThatIsNoAudioIsInvalid) {
  const std::string path =
      MakeAudio("both.mkv", {"-filter_complex", "color=s=64x64:d=1[v]", "-map",
                             "[v]", "-map", "0:a", "-c:a", "flac"});
  EXPECT_EQ(host_->OpenAudio(path, {.stream_index = 0}).error().code(),
            Code::kInvalidArgument);
  EXPECT_EQ(host_->OpenAudio(path, {.stream_index = 9}).error().code(),
            Code::kInvalidArgument);
  EXPECT_EQ(Open(path, {.stream_index = 1}).metadata().stream_index, 1);
  EXPECT_EQ(Open(path).metadata().stream_index, 1);
}

TEST_F(AudioDecoderTest, MoreThanTheLimitIsRefusedByItsName) {
  HostOptions options;
  options.libexec_dir = LibexecDirectory();
  options.limits.session_bytes = 600 * 1024;
  const auto host = Host::Create(options).value();
  AudioDecoder audio = host->OpenAudio(path_).value();
  const auto all = audio.AllSamples();
  ASSERT_FALSE(all);
  EXPECT_EQ(all.error().code(), Code::kResourceExhausted);
  EXPECT_NE(all.error().message().find("Limits::session_bytes"),
            std::string::npos);
  EXPECT_EQ(audio.SamplesPlayedInRange(1, 2)->count(), 44100u);
}

TEST_F(AudioDecoderTest, ABackendWithoutAudioNamesThoseThatHaveIt) {
  HostOptions options;
  options.libexec_dir = LibexecDirectory();
  options.plugin_add_path = {DistributionDirectory()};
  const auto host = Host::Create(options).value();
  const auto audio = host->OpenAudio(path_, {.device = "cvendor"});
  ASSERT_FALSE(audio);
  EXPECT_EQ(audio.error().code(), Code::kUnsupported) << audio.error();
  for (const char* device : {"cpu", "openreg"}) {
    EXPECT_NE(audio.error().message().find(device), std::string::npos)
        << audio.error();
  }
}

// Written by hand, so that the expected values owe nothing to FFmpeg.

TEST_F(AudioDecoderTest, AWavFileWithAnOddDataChunkEndsWhereItsDataDoes) {
  std::string data;
  for (int i = 0; i < 1001; ++i) data += static_cast<char>(i * 37);
  const std::string trailer("LIST\x04\0\0\0INFO", 12);
  AudioDecoder audio = Open(WriteWav("odd.wav", 1, 1, 8000, 8, data, trailer));
  const AudioSamples all = audio.AllSamples().value();
  ASSERT_EQ(all.count(), 1001u);
  for (size_t i = 0; i < all.count(); ++i) {
    const auto byte = static_cast<uint8_t>(data[i]);
    ASSERT_EQ(all.data[i], (static_cast<float>(byte) - 128) / 128) << i;
  }
}

TEST_F(AudioDecoderTest, SixteenChannelsStayApart) {
  std::string data;
  for (int i = 0; i < 500 * 16; ++i) {
    const auto value = static_cast<int16_t>(i * 2654435761u);
    data.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  AudioDecoder audio =
      Open(WriteWav("sixteen.wav", 1, 16, 48000, 16, data, ""));
  const AudioSamples all = audio.AllSamples().value();
  ASSERT_EQ(all.channels, 16u);
  ASSERT_EQ(all.count(), 500u);
  for (uint32_t c = 0; c < 16; ++c) {
    for (size_t i = 0; i < 500; ++i) {
      int16_t value;
      std::memcpy(&value, data.data() + (i * 16 + c) * sizeof(value),
                  sizeof(value));
      ASSERT_EQ(all.channel(c)[i], static_cast<float>(value) / 32768);
    }
  }
}

TEST_F(AudioDecoderTest, FloatsAreHandedOnAsTheyAre) {
  const float kValues[] = {0, -0.0f, 1.5f, -2, 1e-40f, 3e38f};
  const std::string data(reinterpret_cast<const char*>(kValues),
                         sizeof(kValues));
  AudioDecoder audio = Open(WriteWav("f32.wav", 3, 1, 44100, 32, data, ""));
  const AudioSamples all = audio.AllSamples().value();
  ASSERT_EQ(all.data.size(), std::size(kValues));
  EXPECT_EQ(std::memcmp(all.data.data(), kValues, sizeof(kValues)), 0);
}

}  // namespace
}  // namespace bulkhead::tests
