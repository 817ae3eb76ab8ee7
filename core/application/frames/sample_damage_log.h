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

// The damage and the notes that were found in an audio stream. An entry that is
// found again counts once. Adjacent runs of damaged samples form one run, which
// has the sign of its first sample. A note says that something was odd but no
// sample is lost; notes are not joined.
//
// The log is bounded. After kMostRanges runs, a new run joins the run before
// it, and the samples in between count as damaged. After kMostRanges notes, a
// new note extends the byte range of the last note. Value type.
class SampleDamageLog {
 public:
  static constexpr size_t kMostRanges = 1000;

  void Add(const ipc::LostSamples& damage);
  // Returns the first run that overlaps [first, end). Notes are no runs.
  std::optional<ipc::LostSamples> FirstIn(int64_t first, int64_t end) const;
  // Returns the runs in the order of their samples, and after them the notes.
  // Sample 0 is played at `begin_seconds`; `rate` is in samples per second.
  std::vector<DamagedSamples> Ranges(double begin_seconds, double rate) const;

 private:
  // The key of a note, the same in every pass: sample, byte in the file, sign.
  using NoteKey = std::tuple<int64_t, int64_t, ipc::DamageSign>;

  void AddNote(const ipc::LostSamples& note);

  std::map<int64_t, ipc::LostSamples> runs_;  // keyed by the first sample
  std::map<NoteKey, ipc::LostSamples> notes_;
};

// Returns `damage` in the form of the public interface.
DamagedSamples Describe(const ipc::LostSamples& damage, double begin_seconds,
                        double rate);

}  // namespace bulkhead::frames
