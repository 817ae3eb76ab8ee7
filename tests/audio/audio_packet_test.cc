// SPDX-License-Identifier: Apache-2.0
// Damages packets and frames of audio files, and cuts the files off: the
// samples behind the damage keep their place, and calls say what is lost.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "bulkhead/host.h"
#include "tests/audio/audio_damage_fixture.h"
#include "tests/audio/audio_files.h"
#include "tests/audio/samples.h"
#include "tests/support/program.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

// The issue that this was made for: 104,448 samples became 99,119.
TEST_F(AudioDamage, ZeroedBytesOfRawFramesCostNoTime) {
  struct Raw {
    const char* name;
    std::vector<std::string> encoding;
    bool estimated;
  };
  const Raw raws[] = {
      {"info44.mp3", {"-c:a", "libmp3lame"}, false},
      {"info48.mp3", {"-ar", "48000", "-c:a", "libmp3lame"}, false},
      {"info_vbr.mp3", {"-c:a", "libmp3lame", "-q:a", "2"}, false},
      {"bare44.mp3", {"-c:a", "libmp3lame", "-write_xing", "0"}, false},
      {"bare.ac3", {"-ar", "48000", "-c:a", "ac3"}, false},
      {"bare.mp2", {"-c:a", "mp2"}, false},
      {"numbered.flac", {"-c:a", "flac"}, false},
      {"bare_vbr.mp3",
       {"-c:a", "libmp3lame", "-q:a", "2", "-write_xing", "0"},
       true},
      {"bare.aac", {"-c:a", "aac"}, true},
  };
  for (const Raw& raw : raws) {
    SCOPED_TRACE(raw.name);
    const std::string path = MakeAudio(raw.name, raw.encoding, 2.37);
    if (path.empty()) GTEST_SKIP() << "no ffmpeg on this machine";
    const size_t expected = SamplesByFfmpeg(path).size() / 2;
    std::string bytes = ReadBytes(path);
    std::fill_n(bytes.begin() + static_cast<ptrdiff_t>(bytes.size() / 2), 5000,
                '\0');
    WriteBytes(path, bytes);
    const auto refused = Open(path, OnCorrupt::kError)->AllSamples();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), Code::kBadInput) << refused.error();
    AudioDecoder audio = Open(path, OnCorrupt::kSkip).value();
    const size_t count = audio.AllSamples().value().count();
    const auto damage = audio.damage();
    ASSERT_FALSE(damage.empty());
    EXPECT_EQ(damage.front().estimated, raw.estimated);
    if (raw.estimated) {
      EXPECT_NEAR(static_cast<double>(count), static_cast<double>(expected),
                  4096);
    } else {
      EXPECT_EQ(count, expected);
    }
  }
}

// FLAC and WavPack number their samples, so that a frame without a trace is
// missed.
TEST_F(AudioDamage, ANumberedFrameThatIsMissingIsDamage) {
  for (const EncodedSound& sound :
       std::vector<EncodedSound>{{"numbered.flac", {"-c:a", "flac"}},
                                 {"numbered.wv", {"-c:a", "wavpack"}}}) {
    SCOPED_TRACE(sound.name);
    const std::string path = MakeAudio(sound.name, sound.encoding, 4);
    if (path.empty()) GTEST_SKIP() << "no ffmpeg on this machine";
    const AudioSamples whole =
        Open(path, OnCorrupt::kError)->AllSamples().value();
    const std::string part = TemporaryDirectory() + "/part_" + sound.name;
    ASSERT_EQ(RunFfmpeg({"-i", path, "-c", "copy", "-bsf:a",
                         "noise=drop=eq(n\\,2)", part})
                  .exit_code,
              0);
    EXPECT_FALSE(Open(part, OnCorrupt::kError)->AllSamples());
    AudioDecoder audio = Open(part, OnCorrupt::kSkip).value();
    const AudioSamples rest = audio.AllSamples().value();
    const auto damage = audio.damage();
    ASSERT_EQ(damage.size(), 1u);
    EXPECT_FALSE(damage[0].estimated);
    EXPECT_EQ(rest.count(), whole.count());
    const size_t behind = damage[0].first_sample + damage[0].samples;
    EXPECT_TRUE(Same(PartOf(rest, behind, rest.count()),
                     PartOf(whole, behind, whole.count())));
  }
}

// The header tells how many samples the last packet has.
TEST_F(AudioDamage, TheLastPacketOfTtaStaysAsLongAsItWas) {
  const std::string path = MakeAudio("last.tta", {"-c:a", "tta"}, 4);
  if (path.empty()) GTEST_SKIP() << "no ffmpeg on this machine";
  const size_t expected = SamplesByFfmpeg(path).size() / 2;
  std::string bytes = ReadBytes(path);
  bytes.replace(bytes.size() - 50'000, 6000, 6000, '\0');
  WriteBytes(path, bytes);
  AudioDecoder audio = Open(path, OnCorrupt::kSkip).value();
  EXPECT_EQ(audio.AllSamples().value().count(), expected);
  EXPECT_EQ(audio.damage().size(), 1u);
  EXPECT_FALSE(Open(path, OnCorrupt::kError)->AllSamples());
}

// Where the headers tell how large the file should be, its end is not lost
// without a word.
TEST_F(AudioDamage, AFileThatIsCutOffSaysSo) {
  struct Kind {
    const char* name;
    std::vector<std::string> encoding;
    bool has_length;  // the header tells it
  };
  for (const Kind& kind : std::vector<Kind>{
           {"cut_flac.mkv", {"-c:a", "flac"}, true},
           {"cut_vorbis.mka", {"-c:a", "libvorbis"}, true},
           {"cut_opus.webm", {"-c:a", "libopus"}, true},
           {"cut_aac.mp4", {"-c:a", "aac", "-movflags", "+faststart"}, true},
           {"cut_rf64.wav", {"-c:a", "pcm_s16le", "-rf64", "always"}, true},
           {"cut.wav", {"-c:a", "pcm_s16le"}, true},
           {"cut.opus", {"-c:a", "libopus"}, false},
           {"cut.ogg", {"-c:a", "libvorbis"}, false},
           {"cut.ts", {"-c:a", "mp2"}, false}}) {
    SCOPED_TRACE(kind.name);
    const std::string path = MakeAudio(kind.name, kind.encoding, 4);
    if (path.empty()) GTEST_SKIP() << "no ffmpeg on this machine";
    AudioDecoder intact = Open(path, OnCorrupt::kError).value();
    const auto whole = intact.AllSamples();
    ASSERT_TRUE(whole) << whole.error();
    EXPECT_TRUE(intact.damage().empty());

    const std::string bytes = ReadBytes(path);
    // In the middle of a page or a packet.
    const size_t size = bytes.size() * 6 / 10 / 188 * 188 + 100;
    WriteBytes(path, bytes.substr(0, size));
    AudioDecoder audio = Open(path, OnCorrupt::kSkip).value();
    const auto samples = audio.AllSamples();
    ASSERT_TRUE(samples) << samples.error();
    ASSERT_EQ(audio.damage().size(), 1u);
    const DamagedSamples damage = audio.damage()[0];
    EXPECT_EQ(damage.first_sample + damage.samples, samples->count());
    const auto told = static_cast<double>(samples->count());
    if (kind.has_length) {
      EXPECT_NEAR(told, static_cast<double>(whole->count()), 2100);
    } else {
      EXPECT_LE(told, static_cast<double>(whole->count()));
    }
    const auto refused = Open(path, OnCorrupt::kError)->AllSamples();
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message().find("cut off, it needs "),
              std::string::npos)
        << refused.error();
    EXPECT_NE(refused.error().message().find(" has " + std::to_string(size)),
              std::string::npos)
        << refused.error();
  }
}

class AudioDamageOn : public AudioDamage,
                      public testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    AudioDamage::SetUp();
    device_ = GetParam();
  }
};

TEST_P(AudioDamageOn, ALostPacketIsAnErrorOrSilence) {
  const std::string path = MakeAudio("lost.m4a", {"-c:a", "aac"}, 3);
  if (path.empty()) GTEST_SKIP() << "no ffmpeg on this machine";
  const size_t expected = SamplesByFfmpeg(path).size() / 2;
  std::string bytes = ReadBytes(path);
  std::fill_n(bytes.begin() + static_cast<ptrdiff_t>(bytes.size() / 2), 5000,
              '\0');
  WriteBytes(path, bytes);
  AudioDecoder strict = Open(path, OnCorrupt::kError).value();
  const auto refused = strict.AllSamples();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::kBadInput) << refused.error();
  const std::string message = refused.error().message();
  for (const char* told :
       {"lost.m4a: samples ", " s, byte ", " says: \"", "on_corrupt"}) {
    EXPECT_NE(message.find(told), std::string::npos) << message;
  }
  const auto damage = strict.damage();
  ASSERT_EQ(damage.size(), 1u);
  EXPECT_EQ(damage[0].first_sample % 1024, 0u);
  EXPECT_EQ(damage[0].samples % 1024, 0u);
  EXPECT_NE(damage[0].backend_says, "");
  EXPECT_GE(*damage[0].first_byte,
            static_cast<int64_t>(bytes.size() / 2) - 1000);
  EXPECT_LE(*damage[0].last_byte,
            static_cast<int64_t>(bytes.size() / 2) + 5000);

  // The samples before and behind the damage can be had.
  const size_t end = damage[0].first_sample + damage[0].samples;
  AudioDecoder skipping = Open(path, OnCorrupt::kSkip).value();
  const AudioSamples whole = skipping.AllSamples().value();
  EXPECT_EQ(whole.count(), expected);
  const AudioSamples behind = Range(strict, end, end + 5000).value();
  EXPECT_TRUE(Same(Interleaved(behind), PartOf(whole, end, end + 5000)));
  ASSERT_EQ(::kill(strict.worker_pid(), SIGKILL), 0);
  EXPECT_FALSE(Range(strict, end - 1, end + 1));
  EXPECT_TRUE(Range(strict, end, end + 1));
  ASSERT_EQ(strict.damage().size(), 1u);
  EXPECT_EQ(strict.damage()[0].samples, damage[0].samples);
}

TEST_P(AudioDamageOn, ResamplingKeepsTheTimeline) {
  const std::string path = MakeAudio("resampled.m4a", {"-c:a", "aac"}, 3);
  if (path.empty()) GTEST_SKIP() << "no ffmpeg on this machine";
  const size_t expected =
      Open(path, OnCorrupt::kError, 16000)->AllSamples()->count();
  std::string bytes = ReadBytes(path);
  std::fill_n(bytes.begin() + static_cast<ptrdiff_t>(bytes.size() / 2), 5000,
              '\0');
  WriteBytes(path, bytes);
  AudioDecoder audio = Open(path, OnCorrupt::kSkip, 16000).value();
  EXPECT_EQ(audio.AllSamples()->count(), expected);
  const auto at_16000 = audio.damage();
  AudioDecoder own = Open(path, OnCorrupt::kSkip).value();
  ASSERT_TRUE(own.AllSamples());
  ASSERT_EQ(at_16000.size(), own.damage().size());
  for (size_t i = 0; i < at_16000.size(); ++i) {
    EXPECT_NEAR(at_16000[i].begin_seconds, own.damage()[i].begin_seconds, 1e-4);
    EXPECT_NEAR(at_16000[i].end_seconds, own.damage()[i].end_seconds, 1e-4);
  }
}

TEST_P(AudioDamageOn, AFileThatShrinksHasDamageAtItsEnd) {
  const std::string path = MakeAudio("shrinks.wav", {"-c:a", "pcm_s16le"}, 30);
  if (path.empty()) GTEST_SKIP() << "no ffmpeg on this machine";
  constexpr uint64_t kSamples = 30 * 44100;
  AudioDecoder audio = Open(path, OnCorrupt::kSkip).value();
  AudioDecoder strict = Open(path, OnCorrupt::kError).value();
  std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
  const auto whole = audio.AllSamples();
  ASSERT_TRUE(whole) << whole.error();
  EXPECT_EQ(whole->count(), kSamples);
  const auto damage = audio.damage();
  ASSERT_EQ(damage.size(), 1u);
  EXPECT_EQ(damage[0].first_sample + damage[0].samples, kSamples);
  EXPECT_NEAR(static_cast<double>(damage[0].samples), kSamples / 2, 1000);
  const auto refused = strict.AllSamples();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::kBadInput) << refused.error();
}

// Samples that an earlier call had are missing in a later one, in the same
// worker or in a new one.
TEST_P(AudioDamageOn, AFileThatShrinksBehindAPassHasDamageInTheNext) {
  struct Cut {
    const char* name;
    std::vector<std::string> encoding;
    double part;  // of the file, that is left
  };
  const Cut cuts[] = {{"behind.wav", {"-c:a", "pcm_s16le"}, 0.25},
                      {"behind.mp3", {"-c:a", "libmp3lame"}, 0.5},
                      {"behind.flac", {"-c:a", "flac"}, 0.5}};
  for (const Cut& cut : cuts) {
    SCOPED_TRACE(cut.name);
    const std::string path = MakeAudio(cut.name, cut.encoding, 3);
    if (path.empty()) GTEST_SKIP() << "no ffmpeg on this machine";
    AudioDecoder audio = Open(path, OnCorrupt::kSkip).value();
    AudioDecoder strict = Open(path, OnCorrupt::kError).value();
    const size_t count = audio.AllSamples().value().count();
    ASSERT_EQ(strict.AllSamples().value().count(), count);
    const auto bytes = static_cast<double>(std::filesystem::file_size(path));
    std::filesystem::resize_file(path,
                                 static_cast<uintmax_t>(bytes * cut.part));
    const auto again = audio.AllSamples();
    ASSERT_TRUE(again) << again.error();
    EXPECT_EQ(again->count(), count);
    const auto damage = audio.damage();
    ASSERT_EQ(damage.size(), 1u);
    EXPECT_EQ(damage[0].first_sample + damage[0].samples, count);
    EXPECT_NEAR(static_cast<double>(damage[0].samples),
                static_cast<double>(count) * (1 - cut.part),
                static_cast<double>(count) / 5);
    const auto refused = strict.AllSamples();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), Code::kBadInput) << refused.error();
    EXPECT_NE(refused.error().message().find("has become shorter"),
              std::string::npos)
        << refused.error();
  }
}

TEST_P(AudioDamageOn, AFileThatLosesItsFirstFrameHasLostAllSamples) {
  const std::string path = MakeAudio("first.flac", {"-c:a", "flac"}, 3);
  if (path.empty()) GTEST_SKIP() << "no ffmpeg on this machine";
  AudioDecoder audio = Open(path, OnCorrupt::kSkip).value();
  ASSERT_TRUE(Range(audio, 0, 1000));
  // Behind the headers, within the first frame.
  std::filesystem::resize_file(path, 9000);
  const auto whole = audio.AllSamples();
  ASSERT_TRUE(whole) << whole.error();
  EXPECT_EQ(whole->count(), size_t{3} * 44100);
  const auto damage = audio.damage();
  ASSERT_EQ(damage.size(), 1u);
  EXPECT_EQ(damage[0].first_sample, 0);
  EXPECT_EQ(damage[0].samples, whole->count());
}

TEST_P(AudioDamageOn, ThereIsNoNearestSample) {
  const std::string path = MakeAudio("nearest.wav", {"-c:a", "pcm_s16le"}, 1);
  if (path.empty()) GTEST_SKIP() << "no ffmpeg on this machine";
  const auto audio = Open(path, OnCorrupt::kNearest);
  ASSERT_FALSE(audio);
  EXPECT_EQ(audio.error().code(), Code::kInvalidArgument) << audio.error();
}

INSTANTIATE_TEST_SUITE_P(Backends, AudioDamageOn,
                         testing::Values("cpu", "openreg:1"),
                         [](const auto& info) {
                           return std::string(info.param).substr(0, 3);
                         });

}  // namespace
}  // namespace bulkhead::tests
