// SPDX-License-Identifier: Apache-2.0
//
// The samples of every sample file, and of sounds that ffmpeg makes, equal the
// ffmpeg program's on this machine, bit for bit, on both devices. Any part of a
// stream is the same part of the whole, also resampled.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "bulkhead/host.h"
#include "tests/audio/audio_files.h"
#include "tests/audio/samples.h"
#include "tests/media/sample_file_suite.h"
#include "tests/media/sample_files.h"
#include "tests/support/program.h"

namespace bulkhead::tests {
namespace {

constexpr char kCpu[] = "cpu";
constexpr char kOpenreg[] = "openreg:1";

struct Kind {
  const char* name;
  std::vector<std::string> encoding;
};

const std::vector<Kind>& Kinds() {
  static const auto& kinds = *new std::vector<Kind>{
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
  return kinds;
}

// Returns sample files and sounds. One without a path has yet to be made.
std::vector<SampleFile> Files() {
  std::vector<SampleFile> files = AllMediaFiles();
  for (const Kind& kind : Kinds()) {
    files.push_back({.name = kind.name, .has_sound = true});
  }
  return files;
}

// Returns true for a file whose header declares more sound than it has: its end
// is damage, where ffmpeg takes it for a shorter file's.
bool LacksItsEnd(const SampleFile& file) {
  return file.name == "derived__truncated_vp8.webm";
}

// Returns nullopt if ffmpeg fails: there is no sound.
std::optional<std::vector<float>> AllSamplesByFfmpeg(const std::string& path) {
  const ProgramResult result =
      RunProgram({"ffmpeg", "-nostdin", "-v", "quiet", "-threads", "1", "-i",
                  path, "-map", "0:a:0", "-f", "f32le", "-"});
  if (result.exit_code != 0) return std::nullopt;
  return FloatsIn(result.output);
}

class SoundEqualsFfmpeg : public SampleFileSuite {
 protected:
  void SetUp() override {
    path_ = GetParam().path;
    if (!path_.empty()) return;
    for (const Kind& kind : Kinds()) {
      if (kind.name == GetParam().name) {
        path_ = MakeAudio(kind.name, kind.encoding);
      }
    }
    if (path_.empty()) {
      GTEST_SKIP() << "this ffmpeg cannot make " << GetParam().name;
    }
  }

  // What is cut off is damage, which kSkip replaces with silence.
  Result<AudioDecoder> Open(AudioOptions options) {
    if (LacksItsEnd(GetParam())) options.on_corrupt = OnCorrupt::kSkip;
    return host().OpenAudio(path_, std::move(options));
  }

  static void ExpectRandomRanges(AudioDecoder& audio,
                                 const AudioSamples& whole) {
    std::mt19937_64 random(7);
    for (int i = 0; i < 16; ++i) {
      const size_t from = random() % whole.count();
      const size_t to = std::min(from + random() % 5000, whole.count());
      const auto range = audio.SamplesPlayedInRange(
          SecondsOf(audio, whole, from), SecondsOf(audio, whole, to));
      ASSERT_TRUE(range) << range.error();
      EXPECT_EQ(range->count(), to - from);
      ASSERT_TRUE(IsPart(*range, whole, from)) << from << " to " << to;
    }
  }

  static void ExpectEnd(AudioDecoder& audio, const AudioSamples& whole) {
    const size_t last = whole.count() - std::min<size_t>(whole.count(), 10);
    const auto end = audio.SamplesPlayedInRange(SecondsOf(audio, whole, last));
    ASSERT_TRUE(end) << end.error();
    EXPECT_EQ(end->count(), whole.count() - last);
    EXPECT_TRUE(IsPart(*end, whole, last));
    const auto after =
        audio.SamplesPlayedInRange(SecondsOf(audio, whole, whole.count()));
    ASSERT_FALSE(after);
    EXPECT_EQ(after.error().code(), Code::kOutOfRange) << after.error();
  }

  static double SecondsOf(const AudioDecoder& audio, const AudioSamples& whole,
                          size_t sample) {
    return audio.metadata().begin_seconds +
           static_cast<double>(sample) / whole.sample_rate;
  }

  // Asks for adjacent ranges, one after the other.
  static void ExpectChunks(AudioDecoder& audio, const AudioSamples& whole) {
    const double chunk_seconds = whole.duration_seconds / 6.3;
    size_t next = 0;
    for (double at = audio.metadata().begin_seconds;; at += chunk_seconds) {
      const auto chunk = audio.SamplesPlayedInRange(at, at + chunk_seconds);
      if (!chunk) {
        EXPECT_EQ(chunk.error().code(), Code::kOutOfRange) << chunk.error();
        break;
      }
      ASSERT_TRUE(IsPart(*chunk, whole, next)) << next;
      next += chunk->count();
    }
    EXPECT_EQ(next, whole.count());
  }

  // Compares the whole stream with ffmpeg's samples.
  void ExpectWhole(const AudioDecoder& audio, const AudioSamples& whole,
                   const std::vector<float>& expected) const {
    std::vector<float> actual = Interleaved(whole);
    std::vector<DamagedSamples> damage = audio.damage();
    std::erase_if(damage, [](const DamagedSamples& range) {
      return range.kind == DamageKind::kNote;
    });
    ASSERT_EQ(damage.size(), LacksItsEnd(GetParam()) ? 1u : 0u);
    if (LacksItsEnd(GetParam())) {
      EXPECT_EQ(damage[0].sign, DamageSign::kCutOff);
      ASSERT_EQ(damage[0].first_sample * whole.channels, expected.size());
      ASSERT_GT(actual.size(), expected.size());
      actual.resize(expected.size());
    }
    EXPECT_TRUE(Same(actual, expected))
        << actual.size() << " numbers, not " << expected.size();
  }

  // Compares all that can be asked for on both devices. The first decodes the
  // whole before any part of it, the other one parts before the whole: what was
  // decoded before is found by a seek, and nothing else is. Without `expected`,
  // the samples are resampled.
  void ExpectOnBoth(const char* first, const char* other, AudioOptions options,
                    const std::vector<float>* expected = nullptr) {
    SCOPED_TRACE(std::string(first) + " and then " + other);
    options.device = first;
    AudioDecoder audio = Open(options).value();
    const AudioSamples whole = audio.AllSamples().value();
    if (expected != nullptr) ExpectWhole(audio, whole, *expected);
    options.device = other;
    AudioDecoder second = Open(options).value();
    if (whole.count() > 0) ExpectRandomRanges(second, whole);
    EXPECT_TRUE(Same(second.AllSamples().value().data, whole.data));
    if (whole.count() == 0) return;
    ExpectRandomRanges(audio, whole);
    for (AudioDecoder* const known : {&audio, &second}) {
      ExpectEnd(*known, whole);
      ExpectChunks(*known, whole);
    }
  }

  std::string path_;
};

// One test for a file, whose reference serves all of it.
TEST_P(SoundEqualsFfmpeg, WholeInPartsAndResampled) {
  const auto expected = AllSamplesByFfmpeg(path_);
  EXPECT_EQ(GetParam().has_sound, expected && !expected->empty());
  if (!expected) {
    for (const char* device : {kCpu, kOpenreg}) {
      EXPECT_FALSE(host().OpenAudio(path_, {.device = device})) << device;
    }
    return;
  }
  ExpectOnBoth(kCpu, kOpenreg, {}, &*expected);
  ExpectOnBoth(kOpenreg, kCpu, {.sample_rate = 16000});
  ExpectOnBoth(kCpu, kOpenreg, {.sample_rate = 32000, .num_channels = 2});
  if (!LacksItsEnd(GetParam())) return;
  for (const char* device : {kCpu, kOpenreg}) {
    auto strict = host().OpenAudio(path_, {.device = device});
    ASSERT_TRUE(strict) << strict.error();
    EXPECT_EQ(strict->AllSamples().error().code(), Code::kBadInput) << device;
  }
}

INSTANTIATE_TEST_SUITE_P(Files, SoundEqualsFfmpeg, testing::ValuesIn(Files()),
                         [](const auto& file) { return TestName(file.param); });

}  // namespace
}  // namespace bulkhead::tests
