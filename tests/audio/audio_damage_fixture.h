// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
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

// Returns the damage that was met, without notes.
std::vector<DamagedSamples> DamageOf(const AudioDecoder& audio);

// Returns the samples without `damage`'s, interleaved. Fails the test if
// one of the damaged samples is not silent.
std::vector<float> WithoutDamage(const AudioSamples& samples,
                                 const std::vector<DamagedSamples>& damage);

class AudioDamage : public testing::Test {
 protected:
  void SetUp() override;

  Result<AudioDecoder> Open(const std::string& path, OnCorrupt on_corrupt,
                            std::optional<int> rate = std::nullopt);
  Result<AudioSamples> Range(AudioDecoder& audio, size_t from, size_t to);

  // Expects what ffmpeg decodes, with silence where something is damaged. What
  // ffmpeg plays without a word has no damage, except at the end of a file that
  // may be cut off.
  void ExpectAsFfmpeg(const std::string& path, bool may_be_cut_off = false);
  // Expects that each range is the same part of the whole, also of a decoder
  // whose worker dies, and that kError refuses exactly those with damage.
  void ExpectRanges(const std::string& path, unsigned seed);

  std::unique_ptr<Host> host_;
  std::string device_ = "cpu";
};

}  // namespace bulkhead::tests
