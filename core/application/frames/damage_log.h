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

// One report about a video stream, from a worker or, with the signs kShrunk and
// kPromised, from the host. It is either damage, that is, a missing or damaged
// frame, or a note: a packet was odd, but no frame is lost. ipc::IsNote(sign)
// tells them apart. A note uses only `sign`, `pts`, `duration` and `position`.
struct Damage : ipc::Loss {
  std::optional<uint64_t> frame = {};  // number of the frame; nullopt: unknown
  std::string words = {};  // error text of the backend (kStopped: libavformat)
  bool silent = false;     // the backend gave neither a picture nor an error
};

// Returns the time in seconds, or nullopt if it is unknown or absurd: more than
// three centuries from 0, which only a damaged file states.
std::optional<double> TimeOf(int64_t pts, double seconds_per_unit);

// Returns whether the damage is exactly one frame: the next frame of the pass
// that found it. If not, the numbers of the damaged frames are unknown.
inline bool HasPlace(const Damage& damage) {
  return damage.packets == 1 && damage.end_position < 0;
}

// Identifies a gap: frames that both the file and the index lack
// (Loss::not_in_index). A gap has the same key in every pass.
using GapKey = std::pair<int64_t, int64_t>;
GapKey KeyOf(const Damage& gap);

// The damage and the notes that were found in a video stream. An entry that is
// found again counts once. Damaged frames that follow each other form one
// range, which has the sign of its first frame. Notes are not joined.
//
// The log is bounded: it has at most kMostRanges ranges, kMostRanges gaps
// (frames that the index lacks) and kMostRanges notes. In a full log, a new
// frame extends the range before it, and a new gap or note is added to the last
// gap or note. Value type.
class DamageLog {
 public:
  static constexpr size_t kMostRanges = 1000;

  void Add(const Damage& damage);
  // Returns the backend's words about the range that contains `frame`. For
  // nullopt, returns its words about damage with unknown frame numbers. May be
  // empty.
  std::string WordsAbout(std::optional<uint64_t> frame) const;
  // Returns true if any frame from `first` to `last` is damaged.
  bool Has(uint64_t first, uint64_t last) const;
  // Returns the ranges in the order of their frames, then one range for all
  // damage whose frame is unknown, then the gaps, and last the notes in the
  // order of the file.
  std::vector<DamagedRange> Ranges(double seconds_per_unit) const;

 private:
  struct Range {
    ipc::DamageSign sign = ipc::DamageSign::kUnknown;
    uint64_t last = 0;    // number of the last frame
    uint64_t frames = 0;  // damaged ones; a full log's range has sound ones too
    int64_t begin_pts = ipc::kNoTimestamp;
    int64_t end_pts = ipc::kNoTimestamp;
    int64_t first_byte = -1;
    int64_t last_byte = -1;
    std::string words = {};
  };
  // The key of a note, the same in every pass: byte in the file, timestamp,
  // sign.
  using NoteKey = std::tuple<int64_t, int64_t, ipc::DamageSign>;

  void AddFrame(uint64_t frame, const Damage& damage);
  void AddUnplaced(const Damage& damage);
  void AddGap(const Damage& gap);
  void AddNote(const Damage& note);
  // Adds `later` to the end of `range`, which keeps its own sign.
  static void Join(const Range& later, Range& range);

  std::map<uint64_t, Range> ranges_;  // keyed by the first frame
  Range unplaced_;                    // largest report without frame numbers
  std::map<GapKey, Damage> gaps_;     // missing frames not in the index
  std::map<NoteKey, Range> notes_;
};

}  // namespace bulkhead::frames
