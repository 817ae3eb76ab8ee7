// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/include/bulkhead/video_decoder.h"
#include "ipc/damage_sign.h"
#include "ipc/index_entry.h"
#include "ipc/loss.h"

namespace bulkhead::frames {

// A frame that is missing or damaged, or a note, as a worker reported it, or as
// the host found it (kShrunk, kPromised). The sign of a note makes it a note:
// then all but `sign`, `pts`, `duration` and `position` has no meaning.
struct Damage : ipc::Loss {
  std::optional<uint64_t> frame = {};  // number of the frame; nullopt: unknown
  std::string words = {};  // what the backend said, or libavformat (kStopped)
  bool silent = false;     // the backend gave neither a picture nor an error
};

// Returns the time in seconds. Returns nullopt if it is unknown, or so far away
// that only a damaged file has it: such a time would tell people nothing.
std::optional<double> TimeOf(int64_t pts, double seconds_per_unit);

// Returns whether the damage concerns the frame that is next in the pass that
// met it. Else nothing says which frame it is.
inline bool HasPlace(const Damage& damage) {
  return damage.packets == 1 && damage.end_position < 0;
}

// Identifies a missing end, whichever pass met it.
using GapKey = std::pair<int64_t, int64_t>;
GapKey KeyOf(const Damage& gap);

// The damage and the notes that were found in a stream. What is found again is
// counted once, and damaged frames that follow each other become one range,
// with the sign of its first frame. A note joins nothing.
//
// The log is bounded: once it has kMostRanges ranges, new damage extends the
// range before the damage. The same number of missing ends is kept, and the
// same number of notes, of which the last one then extends to each further one.
// Value type.
class DamageLog {
 public:
  static constexpr size_t kMostRanges = 1000;

  void Add(const Damage& damage);
  // Returns what the backend said of the range that `frame` is in, or of the
  // damage whose frame is unknown; may be empty.
  std::string WordsAbout(std::optional<uint64_t> frame) const;
  // Returns true if one of the frames from `first` to `last` is damaged.
  bool Has(uint64_t first, uint64_t last) const;
  // Returns the ranges by frame number, after them one range for all damage
  // whose frame is unknown, then the ends that are missing, and last the notes
  // by their place in the file.
  std::vector<DamagedRange> Ranges(double seconds_per_unit) const;

 private:
  struct Range {
    ipc::DamageSign sign = ipc::DamageSign::kUnknown;
    uint64_t last = 0;
    uint64_t frames = 0;
    int64_t begin_pts = ipc::kNoTimestamp;
    int64_t end_pts = ipc::kNoTimestamp;
    int64_t first_byte = -1;
    int64_t last_byte = -1;
    std::string words = {};
  };
  // Identifies a note, whichever pass met it: byte, timestamp, sign.
  using NoteKey = std::tuple<int64_t, int64_t, ipc::DamageSign>;

  void AddGap(const Damage& gap);
  void AddNote(const Damage& note);
  // Extends `range`, which keeps its sign, to the end of `later`.
  static void Join(const Range& later, Range& range);

  std::map<uint64_t, Range> ranges_;  // keyed by the first frame
  Range unplaced_;                    // frames whose number is unknown
  std::map<GapKey, Damage> gaps_;     // not in the index
  std::map<NoteKey, Range> notes_;
};

}  // namespace bulkhead::frames
