// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "core/include/bulkhead/audio_decoder.h"
#include "ipc/damage_sign.h"

namespace bulkhead::session {

// Samples of an audio stream that are lost, or a note, as a worker reported
// them.
struct SampleDamage {
  int64_t first = 0;  // 0 or more
  int64_t count = 0;  // 1 or more, of a note 0; first + count fits
  ipc::DamageSign sign = ipc::DamageSign::kUnknown;
  // Offsets in the file; -1 if unknown.
  int64_t first_byte = -1;
  int64_t last_byte = -1;
  std::string words = {};  // what the backend said, or libavformat (kStopped)
  bool estimated = false;
  // The size that a file should have which is cut off, or else the number of
  // samples; -1 otherwise.
  int64_t declared_size = -1;
  int64_t declared_samples = -1;
};

// The damage and the notes that were found in an audio stream. What is found
// again is counted once, and runs that touch each other become one, with the
// sign of its first sample. A note joins nothing.
//
// The log is bounded: once it has kMostRanges runs, a new one joins the run
// before it, and the samples between count as damaged. So many notes are kept,
// too, and the last one then extends over the bytes of each further one. Value
// type.
class SampleDamageLog {
 public:
  static constexpr size_t kMostRanges = 1000;

  void Add(const SampleDamage& damage);
  // Returns the first run that has a sample of [first, end). Notes have none.
  std::optional<SampleDamage> FirstIn(int64_t first, int64_t end) const;
  // Returns the runs in order, and after them the notes. Sample 0 is played at
  // `begin_seconds`.
  std::vector<DamagedSamples> Ranges(double begin_seconds, double rate) const;

 private:
  // Tells one note from another: sample, byte, sign.
  using NoteKey = std::tuple<int64_t, int64_t, ipc::DamageSign>;

  void AddNote(const SampleDamage& note);

  std::map<int64_t, SampleDamage> runs_;  // keyed by the first sample
  std::map<NoteKey, SampleDamage> notes_;
};

// Returns `damage` in the form of the public interface.
DamagedSamples Describe(const SampleDamage& damage, double begin_seconds,
                        double rate);

}  // namespace bulkhead::session
