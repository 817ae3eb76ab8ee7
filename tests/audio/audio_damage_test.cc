// SPDX-License-Identifier: Apache-2.0
// Damages audio files in generated ways. Whatever is damaged, the samples that
// are delivered are those that ffmpeg decodes from the damaged file, one after
// the other, with silence only where something is reported, the same in a pass
// and in ranges.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "tests/audio/audio_damage_fixture.h"
#include "tests/audio/audio_files.h"
#include "tests/support/file_bytes.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

// The number of cases. BULKHEAD_DAMAGE_CASES=1000 gives the full test.
uint32_t DamageCases() {
  const char* text = std::getenv("BULKHEAD_DAMAGE_CASES");
  return text != nullptr ? std::strtoul(text, nullptr, 10) : 240;
}

// Zeroes, flips or cuts out bytes in the middle of the file, where no container
// of the test has its tables.
std::string Damage(std::string bytes, std::mt19937& random) {
  const size_t from = bytes.size() / 5 + random() % (bytes.size() / 2);
  const size_t count =
      std::min<size_t>(1 + random() % 6000, bytes.size() * 8 / 10 - from);
  const unsigned kind = random() % 3;
  if (kind == 0) return bytes.erase(from, count);
  for (size_t i = from; i < from + count; ++i) {
    if (kind == 1) {
      bytes[i] = 0;
    } else if (random() % 400 == 0) {
      bytes[i] ^= static_cast<char>(1 << random() % 8);
    }
  }
  return bytes;
}

// FLAC and its like, of which the ffmpeg command decodes frames with wrong
// checksums, are in audio_packet_test.
const std::vector<EncodedSound>& Sounds() {
  static const std::vector<EncodedSound> kSounds = {
      {"aac.m4a", {"-c:a", "aac"}},
      {"alac.m4a", {"-c:a", "alac"}},
      {"opus.mp4", {"-ar", "48000", "-c:a", "libopus"}},
      {"pcm.mov", {"-c:a", "pcm_s16le"}},
      {"pcm.wav", {"-c:a", "pcm_s16le"}},
      {"ac3.mp4", {"-ar", "48000", "-c:a", "ac3"}},
      {"mp3.mp4", {"-c:a", "libmp3lame"}},
      {"raw.mp3", {"-c:a", "libmp3lame"}},
      {"raw.aac", {"-c:a", "aac"}},
      {"raw.ac3", {"-ar", "48000", "-c:a", "ac3"}},
      {"opus.ogg", {"-ar", "48000", "-c:a", "libopus", "-page_duration", "1"}},
      {"vorbis.ogg", {"-c:a", "libvorbis"}},
      {"opus.webm", {"-ar", "48000", "-c:a", "libopus"}},
      {"vorbis.mka", {"-c:a", "libvorbis", "-cluster_time_limit", "300"}},
      {"mp3.mka", {"-c:a", "libmp3lame", "-cluster_time_limit", "300"}},
      {"aac.flv", {"-c:a", "aac"}},
      {"mp3.avi", {"-c:a", "libmp3lame"}},
      {"aac.ts", {"-c:a", "aac"}},
  };
  return kSounds;
}

TEST_F(AudioDamage, WhatIsDeliveredIsWhatFfmpegDecodes) {
  std::vector<std::string> sources;
  for (const EncodedSound& sound : Sounds()) {
    sources.push_back(MakeAudio(sound.name, sound.encoding, 2));
    if (sources.back().empty()) GTEST_SKIP() << "no ffmpeg on this machine";
  }
  const char* first = std::getenv("BULKHEAD_DAMAGE_SEED");
  const uint32_t begin =
      first != nullptr ? std::strtoul(first, nullptr, 10) : 1;
  uint32_t damaged = 0;
  for (uint32_t seed = begin; seed < begin + DamageCases(); ++seed) {
    std::mt19937 random(seed);
    const EncodedSound& sound = Sounds()[seed % sources.size()];
    SCOPED_TRACE("seed " + std::to_string(seed) + ", " + sound.name);
    device_ = seed % 4 == 0 ? "openreg:0" : "cpu";
    const std::string path =
        TemporaryDirectory() + "/damaged_" + std::string(sound.name);
    WriteBytes(path, Damage(ReadBytes(sources[seed % sources.size()]), random));
    auto audio = Open(path, OnCorrupt::kSkip);
    if (!audio) {
      EXPECT_TRUE(SamplesByFfmpeg(path).empty()) << audio.error();
      continue;
    }
    ExpectAsFfmpeg(path, /*may_be_cut_off=*/true);
    ExpectRanges(path, seed);
    if (HasFailure()) return;
    ASSERT_TRUE(audio->AllSamples());
    damaged += !DamageOf(*audio).empty();
  }
  std::printf("%u cases, %u with damage\n", DamageCases(), damaged);
  EXPECT_GT(damaged, DamageCases() / 12);
}

}  // namespace
}  // namespace bulkhead::tests
