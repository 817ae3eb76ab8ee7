// SPDX-License-Identifier: Apache-2.0
// Damage that only the checksums of frames show, and raw streams whose frames
// tell nothing but their length.
#include <gtest/gtest.h>

#include <algorithm>
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

// Bits that change in the middle of a frame still decode, to noise.
TEST_F(AudioDamage, AFrameWithAWrongChecksumIsDamage) {
  for (const EncodedSound& sound : std::vector<EncodedSound>{
           {"sum.flac", {"-c:a", "flac"}},
           {"sum_flac.mka", {"-c:a", "flac"}},
           {"sum_flac.mp4", {"-c:a", "flac", "-strict", "-2"}},
           {"sum.tta", {"-c:a", "tta"}},
           {"sum.wv", {"-c:a", "wavpack"}},
           {"sum_float.wv", {"-c:a", "wavpack", "-sample_fmt", "fltp"}},
           {"sum_mono.wv", {"-ac", "1", "-c:a", "wavpack"}},
           {"sum.ac3", {"-ar", "48000", "-c:a", "ac3"}},
           {"sum_ac3.mkv", {"-ar", "48000", "-c:a", "ac3"}},
           {"sum.eac3", {"-ar", "48000", "-ac", "6", "-c:a", "eac3"}},
           {"sum_eac3.mp4", {"-ar", "48000", "-c:a", "eac3"}}}) {
    const std::string path = MakeAudio(sound.name, sound.encoding, 3);
    if (path.empty()) GTEST_SKIP() << "no ffmpeg on this machine";
    AudioDecoder intact = Open(path, OnCorrupt::kError).value();
    const AudioSamples whole = intact.AllSamples().value();
    EXPECT_TRUE(intact.damage().empty()) << sound.name;
    const std::string bytes = ReadBytes(path);
    for (const size_t part : {3, 5, 7}) {
      SCOPED_TRACE(std::string(sound.name) + " at " + std::to_string(part));
      std::string damaged = bytes;
      for (size_t i = 0; i < 8; ++i) {
        damaged[bytes.size() * part / 9 + i] ^= 0x10;
      }
      WriteBytes(path, damaged);
      EXPECT_FALSE(Open(path, OnCorrupt::kError)->AllSamples());
      AudioDecoder audio = Open(path, OnCorrupt::kSkip).value();
      const AudioSamples rest = audio.AllSamples().value();
      const auto damage = audio.damage();
      ASSERT_EQ(damage.size(), 1u);
      EXPECT_FALSE(damage[0].estimated);
      ASSERT_EQ(rest.count(), whole.count());
      // The decoder of AC-3 makes noise of its own, in the order of the frames.
      if (std::string(sound.name).find("ac3") != std::string::npos) {
        EXPECT_TRUE(IsInPlace(rest, whole, damage));
        continue;
      }
      const size_t behind = damage[0].first_sample + damage[0].samples;
      EXPECT_TRUE(Same(PartOf(rest, behind, rest.count()),
                       PartOf(whole, behind, whole.count())));
      EXPECT_TRUE(Same(PartOf(rest, 0, damage[0].first_sample),
                       PartOf(whole, 0, damage[0].first_sample)));
    }
  }
}

// A program that leaves the checksums as they were, or writes none.
TEST_F(AudioDamage, AStreamWithoutRightChecksumsIsNoDamage) {
  const std::string path =
      MakeAudio("no_sums.ac3", {"-ar", "48000", "-c:a", "ac3"}, 2);
  if (path.empty()) GTEST_SKIP() << "no ffmpeg on this machine";
  std::string bytes = ReadBytes(path);
  const size_t frame = bytes.find("\x0b\x77", 2);
  for (size_t at = frame; at <= bytes.size(); at += frame) bytes[at - 1] ^= 1;
  WriteBytes(path, bytes);
  AudioDecoder audio = Open(path, OnCorrupt::kError).value();
  const auto whole = audio.AllSamples();
  ASSERT_TRUE(whole) << whole.error();
  EXPECT_TRUE(audio.damage().empty());
}

TEST_F(AudioDamage, RawFramesThatVanishInZeroesAreCounted) {
  struct Raw {
    const char* name;
    std::vector<std::string> encoding;
    bool estimated;
  };
  const Raw raws[] = {
      {"zeroed.eac3", {"-ar", "48000", "-c:a", "eac3"}, false},
      {"zeroed.dts", {"-ar", "48000", "-strict", "-2", "-c:a", "dca"}, false},
      {"zeroed.thd", {"-ar", "48000", "-strict", "-2", "-c:a", "truehd"}, true},
  };
  for (const Raw& raw : raws) {
    SCOPED_TRACE(raw.name);
    const std::string path = MakeAudio(raw.name, raw.encoding, 3);
    if (path.empty()) GTEST_SKIP() << "no ffmpeg on this machine";
    const size_t expected =
        Open(path, OnCorrupt::kError)->AllSamples().value().count();
    std::string bytes = ReadBytes(path);
    std::fill_n(bytes.begin() + static_cast<ptrdiff_t>(bytes.size() / 2), 6000,
                '\0');
    WriteBytes(path, bytes);
    AudioDecoder audio = Open(path, OnCorrupt::kSkip).value();
    const size_t count = audio.AllSamples().value().count();
    const auto damage = audio.damage();
    ASSERT_FALSE(damage.empty());
    EXPECT_EQ(damage.back().estimated, raw.estimated);
    EXPECT_NEAR(static_cast<double>(count), static_cast<double>(expected),
                raw.estimated ? 2000 : 0);
    EXPECT_FALSE(Open(path, OnCorrupt::kError)->AllSamples());
  }
}

// A recording that begins within a frame, and two that were joined.
TEST_F(AudioDamage, PartsOfRawFramesAreNoDamage) {
  for (const EncodedSound& sound : std::vector<EncodedSound>{
           {"parts.eac3", {"-ar", "48000", "-c:a", "eac3"}},
           {"parts.dts", {"-ar", "48000", "-strict", "-2", "-c:a", "dca"}},
           {"parts.thd",
            {"-ar", "48000", "-strict", "-2", "-c:a", "truehd"}}}) {
    const std::string path = MakeAudio(sound.name, sound.encoding, 2);
    if (path.empty()) GTEST_SKIP() << "no ffmpeg on this machine";
    const std::string bytes = ReadBytes(path);
    for (const std::string& part : {bytes.substr(700), bytes + bytes}) {
      SCOPED_TRACE(std::string(sound.name) + std::to_string(part.size()));
      WriteBytes(path, part);
      AudioDecoder audio = Open(path, OnCorrupt::kError).value();
      const auto whole = audio.AllSamples();
      ASSERT_TRUE(whole) << whole.error();
      EXPECT_TRUE(Same(Interleaved(*whole), SamplesByFfmpeg(path)));
    }
  }
}

// The header counts the frames, and nothing tells where the others were.
TEST_F(AudioDamage, WholeFramesCutOutOfMp3AreAnEstimate) {
  const std::string path = MakeAudio("two_out.mp3", {"-c:a", "libmp3lame"}, 3);
  if (path.empty()) GTEST_SKIP() << "no ffmpeg on this machine";
  const size_t expected =
      Open(path, OnCorrupt::kError)->AllSamples().value().count();
  std::string bytes = ReadBytes(path);
  // Frames of 128 kbit/s at 44,100 Hz, with and without a byte of padding.
  const size_t first = bytes.find("\xff\xfb", bytes.size() / 2);
  const size_t third = bytes.find("\xff\xfb", first + 2 * 417);
  ASSERT_LE(third - first, 2u * 418);
  bytes.erase(first, third - first);
  WriteBytes(path, bytes);
  AudioDecoder audio = Open(path, OnCorrupt::kSkip).value();
  EXPECT_EQ(audio.AllSamples().value().count(), expected);
  const auto damage = audio.damage();
  ASSERT_EQ(damage.size(), 1u);
  EXPECT_TRUE(damage[0].estimated);
  EXPECT_FALSE(Open(path, OnCorrupt::kError)->AllSamples());
}

// libavformat marks the last block of raw aptX, which may have any length.
TEST_F(AudioDamage, AShortLastBlockOfAptxIsNoDamage) {
  for (const char* name : {"short.aptxhd", "short.aptx"}) {
    for (const double seconds : {0.33, 1.0, 1.017}) {
      SCOPED_TRACE(std::string(name) + ", " + std::to_string(seconds) + " s");
      const std::string codec =
          std::string(name).ends_with("hd") ? "aptx_hd" : "aptx";
      const std::string path =
          MakeAudio(name, {"-y", "-ar", "48000", "-c:a", codec}, seconds);
      if (path.empty()) GTEST_SKIP() << "no ffmpeg on this machine";
      AudioDecoder audio = Open(path, OnCorrupt::kError).value();
      const auto whole = audio.AllSamples();
      ASSERT_TRUE(whole) << whole.error();
      EXPECT_TRUE(Same(Interleaved(*whole), SamplesByFfmpeg(path)));
    }
  }
}

}  // namespace
}  // namespace bulkhead::tests
