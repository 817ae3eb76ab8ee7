// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/include/bulkhead/audio_decoder.h"

namespace bulkhead::session {

// Samples of an audio stream that are lost, as a worker reported them.
struct SampleDamage {
  int64_t first = 0;  // 0 or more
  int64_t count = 0;  // 1 or more; first + count fits
  // Offsets in the file; -1 if unknown.
  int64_t first_byte = -1;
  int64_t last_byte = -1;
  std::string words;  // what the backend said, or empty
  bool estimated = false;
  // The size that a file should have which is cut off, or else the number of
  // samples; -1 otherwise.
  int64_t declared_size = -1;
  int64_t declared_samples = -1;
};

// The damage that was found in an audio stream. Damage that is found again is
// counted once, and runs that touch each other become one.
//
// The log is bounded: once it has kMostRanges runs, a new one joins the run
// before it, and the samples between count as damaged. Value type.
class SampleDamageLog {
 public:
  static constexpr size_t kMostRanges = 1000;

  void Add(const SampleDamage& damage);
  // Returns the first run that has a sample of [first, end).
  std::optional<SampleDamage> FirstIn(int64_t first, int64_t end) const;
  // Returns the runs in order. Sample 0 is played at `begin_seconds`.
  std::vector<DamagedSamples> Ranges(double begin_seconds, double rate) const;

 private:
  std::map<int64_t, SampleDamage> runs_;  // keyed by the first sample
};

// Returns `damage` in the form of the public interface.
DamagedSamples Describe(const SampleDamage& damage, double begin_seconds,
                        double rate);

}  // namespace bulkhead::session
