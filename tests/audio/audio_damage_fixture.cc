// SPDX-License-Identifier: Apache-2.0
#include "tests/audio/audio_damage_fixture.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "tests/support/test_paths.h"

namespace bulkhead::tests {

uint32_t DamageCases() {
  const char* text = std::getenv("BULKHEAD_DAMAGE_CASES");
  return text != nullptr ? std::strtoul(text, nullptr, 10) : 240;
}

std::string ReadBytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void WriteBytes(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

bool IsInPlace(const AudioSamples& samples, const AudioSamples& sound,
               const std::vector<DamagedSamples>& damage) {
  constexpr size_t kBlock = 256;
  const auto is_near = [&](size_t at) {
    return std::any_of(damage.begin(), damage.end(), [&](const auto& run) {
      return at + kBlock + 4096 > run.first_sample &&
             at < run.first_sample + run.samples + 8192;
    });
  };
  size_t blocks = 0;
  size_t other = 0;
  for (size_t at = 0; at + kBlock <= samples.count(); at += kBlock) {
    if (is_near(at)) continue;
    ++blocks;
    double error = 0;
    double power = 0;
    for (size_t i = at; i < at + kBlock && i < sound.count(); ++i) {
      const double value = sound.channel(0)[i];
      error +=
          (samples.channel(0)[i] - value) * (samples.channel(0)[i] - value);
      power += value * value;
    }
    other += at + kBlock > sound.count() || error > power / 100 + 1e-6;
  }
  return other * 5 <= blocks + 100;
}

std::vector<size_t> OggPagesOf(const std::string& bytes) {
  std::vector<size_t> pages;
  for (size_t at = 0; at + 27 <= bytes.size();) {
    pages.push_back(at);
    const auto segments = static_cast<uint8_t>(bytes[at + 26]);
    size_t next = at + 27 + segments;
    for (size_t i = 0; i < segments; ++i) {
      next += static_cast<uint8_t>(bytes[at + 27 + i]);
    }
    at = next;
  }
  return pages;
}

uint64_t OggGranuleOf(const std::string& bytes, size_t page) {
  uint64_t granule = 0;
  for (size_t i = 8; i-- > 0;) {
    granule = granule << 8 | static_cast<uint8_t>(bytes[page + 6 + i]);
  }
  return granule;
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

}  // namespace bulkhead::tests
