// SPDX-License-Identifier: Apache-2.0
#include "tests/audio/audio_damage_fixture.h"

#include <signal.h>

#include <algorithm>
#include <random>

#include "tests/audio/audio_files.h"
#include "tests/audio/samples.h"
#include "tests/support/program.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {

std::vector<DamagedSamples> DamageOf(const AudioDecoder& audio) {
  std::vector<DamagedSamples> damage = audio.damage();
  std::erase_if(damage, [](const auto& run) { return run.samples == 0; });
  return damage;
}

std::vector<float> WithoutDamage(const AudioSamples& samples,
                                 const std::vector<DamagedSamples>& damage) {
  std::vector<float> rest;
  size_t next = 0;
  const auto append_until = [&](size_t to) {
    const auto part = PartOf(samples, next, to);
    rest.insert(rest.end(), part.begin(), part.end());
  };
  for (const DamagedSamples& run : damage) {
    append_until(run.first_sample);
    next = std::min<size_t>(run.first_sample + run.samples, samples.count());
    const auto lost = PartOf(samples, run.first_sample, next);
    EXPECT_TRUE(std::all_of(lost.begin(), lost.end(),
                            [](float value) { return value == 0; }));
  }
  append_until(samples.count());
  return rest;
}

void AudioDamage::SetUp() {
  HostOptions options;
  options.libexec_dir = LibexecDirectory();
  host_ = Host::Create(options).value();
}

Result<AudioDecoder> AudioDamage::Open(const std::string& path,
                                       OnCorrupt on_corrupt,
                                       std::optional<int> rate) {
  return host_->OpenAudio(
      path, {.device = device_, .sample_rate = rate, .on_corrupt = on_corrupt});
}

Result<AudioSamples> AudioDamage::Range(AudioDecoder& audio, size_t from,
                                        size_t to) {
  const double begin = audio.metadata().begin_seconds;
  const double rate = audio.metadata().sample_rate;
  return audio.SamplesPlayedInRange(begin + static_cast<double>(from) / rate,
                                    begin + static_cast<double>(to) / rate);
}

void AudioDamage::ExpectAsFfmpeg(const std::string& path, bool may_be_cut_off) {
  const ProgramResult theirs = RunProgram(
      {"ffmpeg", "-nostdin", "-hide_banner", "-v", "warning", "-threads", "1",
       "-i", path, "-map", "0:a:0", "-f", "f32le", "-"});
  AudioDecoder audio = Open(path, OnCorrupt::kSkip).value();
  const AudioSamples whole = audio.AllSamples().value();
  const auto damage = DamageOf(audio);
  const bool is_cut_off =
      may_be_cut_off && damage.size() == 1 &&
      damage[0].first_sample + damage[0].samples == whole.count();
  EXPECT_TRUE(damage.empty() || is_cut_off || !theirs.errors.empty());
  EXPECT_TRUE(Same(WithoutDamage(whole, damage), FloatsIn(theirs.output)));
  const auto strict = Open(path, OnCorrupt::kError)->AllSamples();
  EXPECT_EQ(bool{strict}, damage.empty());
}

void AudioDamage::ExpectRanges(const std::string& path, unsigned seed) {
  std::mt19937 random(seed);
  AudioDecoder reference = Open(path, OnCorrupt::kSkip).value();
  const AudioSamples whole = reference.AllSamples().value();
  const auto damage = DamageOf(reference);
  AudioDecoder skipping = Open(path, OnCorrupt::kSkip).value();
  AudioDecoder strict = Open(path, OnCorrupt::kError).value();
  const int killed = static_cast<int>(random() % 16);
  for (int i = 0; i < 5 && whole.count() > 0; ++i) {
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
    EXPECT_TRUE(IsPart(*part, whole, from)) << from << " to " << to;
    EXPECT_EQ(part->count(), to - from);
    const bool damaged =
        std::any_of(damage.begin(), damage.end(), [&](const auto& run) {
          return run.first_sample < to && run.first_sample + run.samples > from;
        });
    const auto sound = Range(strict, from, to);
    ASSERT_EQ(bool{sound}, !damaged) << from << " to " << to;
    if (sound) {
      EXPECT_TRUE(Same(sound->data, part->data)) << from << " to " << to;
    } else {
      EXPECT_EQ(sound.error().code(), Code::kBadInput) << sound.error();
    }
  }
}

}  // namespace bulkhead::tests
