// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "core/include/bulkhead/audio_decoder.h"
#include "ipc/damage_sign.h"
#include "ipc/loss.h"

namespace bulkhead::frames {

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

  void Add(const ipc::LostSamples& damage);
  // Returns the first run that has a sample of [first, end). Notes have none.
  std::optional<ipc::LostSamples> FirstIn(int64_t first, int64_t end) const;
  // Returns the runs in order, and after them the notes. Sample 0 is played at
  // `begin_seconds`.
  std::vector<DamagedSamples> Ranges(double begin_seconds, double rate) const;

 private:
  // Identifies a note: sample, byte, sign.
  using NoteKey = std::tuple<int64_t, int64_t, ipc::DamageSign>;

  void AddNote(const ipc::LostSamples& note);

  std::map<int64_t, ipc::LostSamples> runs_;  // keyed by the first sample
  std::map<NoteKey, ipc::LostSamples> notes_;
};

// Returns `damage` in the form of the public interface.
DamagedSamples Describe(const ipc::LostSamples& damage, double begin_seconds,
                        double rate);

}  // namespace bulkhead::frames
