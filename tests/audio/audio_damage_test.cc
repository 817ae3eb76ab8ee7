// SPDX-License-Identifier: Apache-2.0
// Damages audio files in generated ways. Whatever is damaged, the samples and
// the damage make up the timeline of the sound file, or the damage says that it
// is an estimate, the same in a pass and in ranges; without the damage, the
// samples are those that ffmpeg decodes from the damaged file.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "bulkhead/host.h"
#include "tests/audio/audio_damage_fixture.h"
#include "tests/audio/audio_files.h"
#include "tests/audio/samples.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

enum class Kind { kZeroed, kFlipped, kCut };

// Damages bytes in the middle of the file, where no container of the test has
// its tables.
std::string Damage(std::string bytes, Kind kind, std::mt19937& random) {
  const size_t from = bytes.size() / 5 + random() % (bytes.size() / 2);
  const size_t count =
      std::min<size_t>(1 + random() % 6000, bytes.size() * 8 / 10 - from);
  if (kind == Kind::kCut) return bytes.erase(from, count);
  for (size_t i = 0; i < count; ++i) {
    if (kind == Kind::kZeroed) {
      bytes[from + i] = 0;
    } else if (random() % 400 == 0) {
      bytes[from + i] ^= static_cast<char>(1 << random() % 8);
    }
  }
  return bytes;
}

struct Sound {
  const char* name;
  std::vector<std::string> encoding;
  // kTable: the container has a table of all packets, which this test never
  // damages, or packets that need none. The timeline stays that of the sound
  // file, whatever is damaged.
  // kTimed: the packets have timestamps or numbers, or the header counts them.
  // kBytes: only the number of bytes tells how many samples are lost. What was
  // cut out leaves no trace.
  enum Timeline { kTable, kTimed, kBytes } timeline = kTimed;
};

const std::vector<Sound>& Sounds() {
  static const std::vector<Sound> kSounds = {
      {"aac.m4a", {"-c:a", "aac"}, Sound::kTable},
      {"alac.m4a", {"-c:a", "alac"}, Sound::kTable},
      {"flac.mp4", {"-c:a", "flac", "-strict", "-2"}, Sound::kTable},
      {"opus.mp4", {"-ar", "48000", "-c:a", "libopus"}, Sound::kTable},
      {"pcm.mov", {"-c:a", "pcm_s16le"}, Sound::kTable},
      {"pcm.wav", {"-c:a", "pcm_s16le"}, Sound::kTable},
      {"ac3.mp4", {"-ar", "48000", "-c:a", "ac3"}, Sound::kTable},
      {"mp3.mp4", {"-c:a", "libmp3lame"}, Sound::kTable},
      {"raw.mp3", {"-c:a", "libmp3lame"}},
      {"vbr.mp3", {"-c:a", "libmp3lame", "-q:a", "2"}},
      {"bare.mp3", {"-c:a", "libmp3lame", "-write_xing", "0"}, Sound::kBytes},
      {"raw.aac", {"-c:a", "aac"}, Sound::kBytes},
      {"raw.ac3", {"-ar", "48000", "-c:a", "ac3"}, Sound::kBytes},
      {"raw.flac", {"-c:a", "flac"}},
      {"opus.ogg", {"-ar", "48000", "-c:a", "libopus", "-page_duration", "1"}},
      {"vorbis.ogg", {"-c:a", "libvorbis", "-page_duration", "1"}},
      {"opus.webm", {"-ar", "48000", "-c:a", "libopus"}},
      {"vorbis.mka", {"-c:a", "libvorbis", "-cluster_time_limit", "300"}},
      {"mp3.mka", {"-c:a", "libmp3lame", "-cluster_time_limit", "300"}},
      {"aac.ts", {"-c:a", "aac"}},
      {"mp2.ts", {"-c:a", "mp2"}},
  };
  return kSounds;
}

uint64_t Sum(const std::vector<DamagedSamples>& damage) {
  uint64_t samples = 0;
  for (const DamagedSamples& run : damage) samples += run.samples;
  return samples;
}

// Returns the samples without those of `damage`, interleaved. Fails the test if
// one of the damaged samples is not silent.
std::vector<float> WithoutDamage(const AudioSamples& samples,
                                 const std::vector<DamagedSamples>& damage) {
  std::vector<float> rest;
  size_t next = 0;
  const auto append = [&](size_t from, size_t to) {
    const auto part = PartOf(samples, from, to);
    rest.insert(rest.end(), part.begin(), part.end());
  };
  for (const DamagedSamples& run : damage) {
    append(next, run.first_sample);
    next = run.first_sample + run.samples;
    EXPECT_LE(next, samples.count());
    const auto lost = PartOf(samples, run.first_sample,
                             std::min<size_t>(next, samples.count()));
    EXPECT_TRUE(std::all_of(lost.begin(), lost.end(),
                            [](float value) { return value == 0; }));
  }
  append(std::min<size_t>(next, samples.count()), samples.count());
  return rest;
}

// Returns true if `part` is `whole` without some runs that make up no more than
// this share of it.
bool IsMostOf(const std::vector<float>& part, const std::vector<float>& whole,
              double share) {
  if (part.size() > whole.size() ||
      static_cast<double>(whole.size() - part.size()) >
          share * static_cast<double>(whole.size())) {
    return false;
  }
  size_t at = 0;
  for (size_t i = 0; i < part.size(); ++i, ++at) {
    while (at < whole.size() && part[i] != whole[at]) ++at;
    if (at == whole.size()) return false;
  }
  return true;
}

// Returns true if at most two packets differ, and the rest by a rounding error.
// The decoder of MP2 rounds by what it has decoded before. Of a damaged packet,
// it reads what is behind it in memory.
bool IsRoundedAlike(const std::vector<float>& a, const std::vector<float>& b) {
  if (a.size() != b.size()) return false;
  size_t differ = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    differ += std::abs(a[i] - b[i]) > 1.0F / 16384;
  }
  return differ <= size_t{2} * 2 * 1152;
}

bool HasChecksums(const std::string& codec) {
  return codec == "ac3" || codec == "eac3" || codec == "flac" ||
         codec == "tta" || codec == "wavpack";
}

class DamagedAudioCases : public AudioDamage {
 protected:
  void CheckRanges(const std::string& path, const AudioSamples& whole,
                   const std::vector<DamagedSamples>& damage,
                   std::mt19937& random);
  void Check(const std::string& path, std::mt19937& random);

  uint64_t samples_ = 0;  // of the last case
  bool estimated_ = false;
  uint64_t cases_with_damage_ = 0;
};

// Any range equals the same part of the whole; it is refused by kError if it
// has damage.
void DamagedAudioCases::CheckRanges(const std::string& path,
                                    const AudioSamples& whole,
                                    const std::vector<DamagedSamples>& damage,
                                    std::mt19937& random) {
  AudioDecoder skipping = Open(path, OnCorrupt::kSkip).value();
  AudioDecoder strict = Open(path, OnCorrupt::kError).value();
  const int killed = static_cast<int>(random() % 16);
  for (int i = 0; i < 5; ++i) {
    size_t from = random() % whole.count();
    if (i == 3 && !damage.empty()) {
      from = damage.front().first_sample + damage.front().samples;
      if (from >= whole.count()) break;
    }
    const size_t to =
        std::min<size_t>(from + 1 + random() % 20'000, whole.count());
    if (i == killed) {
      ASSERT_EQ(::kill(skipping.worker_pid(), SIGKILL), 0);
      ASSERT_EQ(::kill(strict.worker_pid(), SIGKILL), 0);
    }
    const auto part = Range(skipping, from, to);
    ASSERT_TRUE(part) << part.error();
    EXPECT_TRUE(Same(Interleaved(*part), PartOf(whole, from, to)))
        << from << " to " << to;
    const bool damaged = std::any_of(
        damage.begin(), damage.end(), [&](const DamagedSamples& run) {
          return run.first_sample < to && run.first_sample + run.samples > from;
        });
    const auto sound = Range(strict, from, to);
    ASSERT_EQ(bool{sound}, !damaged) << from << " to " << to;
    if (sound) {
      EXPECT_TRUE(Same(sound->data, part->data)) << from << " to " << to;
    } else {
      EXPECT_EQ(sound.error().code(), Code::kBadInput) << sound.error();
      EXPECT_NE(sound.error().message().find("are damaged"), std::string::npos);
    }
  }
}

void DamagedAudioCases::Check(const std::string& path, std::mt19937& random) {
  // The ffmpeg command decodes frames with wrong checksums.
  std::vector<float> reference = SamplesByFfmpeg(path);
  auto audio = Open(path, OnCorrupt::kSkip);
  samples_ = 0;
  estimated_ = false;
  if (!audio) {
    EXPECT_TRUE(reference.empty()) << audio.error();
    return;
  }
  const auto whole = audio->AllSamples();
  ASSERT_TRUE(whole) << whole.error();
  samples_ = whole->count();
  const std::vector<DamagedSamples> damage = audio->damage();
  if (!damage.empty()) ++cases_with_damage_;
  estimated_ = std::any_of(damage.begin(), damage.end(),
                           [](const auto& run) { return run.estimated; });
  EXPECT_LE(whole->count(), Sum(damage) + reference.size() / whole->channels);
  const std::vector<float> rest = WithoutDamage(*whole, damage);
  if (audio->metadata().codec == "opus") {
    // Damage can make a packet of Opus tell that it is longer. What has no
    // place is left out.
    EXPECT_TRUE(IsMostOf(rest, reference, 0.05));
  } else if (HasChecksums(audio->metadata().codec)) {
    EXPECT_TRUE(IsMostOf(rest, reference, 0.6));
  } else {
    // ffmpeg leaves the encoder's padding at the end once packets were lost.
    const size_t padding = reference.size() - rest.size();
    if (audio->metadata().container == "mp3" && !damage.empty() &&
        reference.size() > rest.size() && padding <= 2 * 1152 * 2) {
      reference.resize(rest.size());
    }
    EXPECT_TRUE(Same(rest, reference) || (audio->metadata().codec == "mp2" &&
                                          IsRoundedAlike(rest, reference)))
        << rest.size() << " values, not " << reference.size();
  }
  for (const DamagedSamples& run : damage) {
    EXPECT_NEAR(run.end_seconds - run.begin_seconds,
                static_cast<double>(run.samples) / whole->sample_rate, 1e-6);
  }
  const auto strict = Open(path, OnCorrupt::kError)->AllSamples();
  EXPECT_EQ(bool{strict}, damage.empty());
  CheckRanges(path, *whole, damage, random);
}

TEST_F(DamagedAudioCases, KeepsTheTimelineWhateverIsDamaged) {
  std::vector<std::string> sources;
  std::vector<uint64_t> timelines;
  for (const Sound& sound : Sounds()) {
    sources.push_back(MakeAudio(sound.name, sound.encoding, 2));
    if (sources.back().empty()) GTEST_SKIP() << "no ffmpeg on this machine";
    timelines.push_back(SamplesByFfmpeg(sources.back()).size() / 2);
  }
  const char* first = std::getenv("BULKHEAD_DAMAGE_SEED");
  const uint32_t begin =
      first != nullptr ? std::strtoul(first, nullptr, 10) : 1;
  std::vector<uint64_t> cases(sources.size());
  std::vector<uint64_t> exact(sources.size());
  uint64_t estimates = 0;
  for (uint32_t seed = begin; seed < begin + DamageCases(); ++seed) {
    std::mt19937 random(seed);
    const size_t source = seed % sources.size();
    const Sound& sound = Sounds()[source];
    const bool has_table = sound.timeline == Sound::kTable;
    const auto kind = static_cast<Kind>(random() % (has_table ? 2 : 3));
    device_ = seed % 4 == 0 ? "openreg:0" : "cpu";
    SCOPED_TRACE("seed " + std::to_string(seed) + ", " + sound.name);
    const std::string path =
        TemporaryDirectory() + "/damaged_" + std::string(sound.name);
    WriteBytes(path, Damage(ReadBytes(sources[source]), kind, random));
    Check(path, random);
    const bool told = std::getenv("BULKHEAD_DAMAGE_TOLD") != nullptr;
    if (HasFailure() && !told) return;
    const bool is_exact = samples_ == timelines[source];
    const bool may_differ =
        sound.timeline == Sound::kBytes && kind == Kind::kCut;
    EXPECT_TRUE(is_exact || (estimated_ && !has_table) || may_differ)
        << samples_ << ", not " << timelines[source];
    ++cases[source];
    exact[source] += is_exact;
    estimates += estimated_;
    if (told) {
      std::printf("%u %s kind %d: %llu of %llu samples%s\n", seed, sound.name,
                  static_cast<int>(kind),
                  static_cast<unsigned long long>(samples_),
                  static_cast<unsigned long long>(timelines[source]),
                  estimated_ ? ", an estimate" : "");
    }
  }
  for (size_t i = 0; i < sources.size(); ++i) {
    std::printf(
        "%-12s %3llu cases, %3llu with the timeline of the sound file\n",
        Sounds()[i].name, static_cast<unsigned long long>(cases[i]),
        static_cast<unsigned long long>(exact[i]));
  }
  std::printf("%u cases, %llu with damage, %llu of them estimates\n",
              DamageCases(),
              static_cast<unsigned long long>(cases_with_damage_),
              static_cast<unsigned long long>(estimates));
  EXPECT_GT(cases_with_damage_, DamageCases() / 3);
}

}  // namespace
}  // namespace bulkhead::tests
