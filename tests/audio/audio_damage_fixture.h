// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bulkhead/host.h"

namespace bulkhead::tests {

// The fixture that the tests of damaged audio share.

// An audio file that the ffmpeg program makes.
struct EncodedSound {
  const char* name;
  std::vector<std::string> encoding;
};

// The number of cases. BULKHEAD_DAMAGE_CASES=1000 gives the full test.
uint32_t DamageCases();

std::string ReadBytes(const std::string& path);
void WriteBytes(const std::string& path, const std::string& bytes);

// Returns true if nearly all samples are those of the sound file at the same
// place, far from the damage: decoders need a while to recover.
bool IsInPlace(const AudioSamples& samples, const AudioSamples& sound,
               const std::vector<DamagedSamples>& damage);

// The pages of an Ogg file without damage.
std::vector<size_t> OggPagesOf(const std::string& bytes);  // their offsets
uint64_t OggGranuleOf(const std::string& bytes, size_t page);

class AudioDamage : public testing::Test {
 protected:
  void SetUp() override;

  Result<AudioDecoder> Open(const std::string& path, OnCorrupt on_corrupt,
                            std::optional<int> rate = std::nullopt);
  Result<AudioSamples> Range(AudioDecoder& audio, size_t from, size_t to);

  std::unique_ptr<Host> host_;
  std::string device_ = "cpu";
};

}  // namespace bulkhead::tests
