// SPDX-License-Identifier: Apache-2.0
#include "core/application/frames/damage_log.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "core/base/damage_from_ipc.h"

namespace bulkhead::frames {
namespace {

// Returns the timestamp at which the damage ends: pts + duration. Returns pts
// if it is unknown or the sum overflows.
int64_t EndPtsOf(const Damage& damage) {
  int64_t end;
  if (damage.pts == ipc::kNoTimestamp ||
      __builtin_add_overflow(damage.pts, damage.duration, &end)) {
    return damage.pts;
  }
  return end;
}

}  // namespace

GapKey KeyOf(const Damage& gap) { return {gap.end_position, gap.pts}; }

void DamageLog::AddGap(const Damage& gap) {
  if (gaps_.count(KeyOf(gap)) > 0) return;
  if (gaps_.size() < kMostRanges) {
    gaps_.emplace(KeyOf(gap), gap);
    return;
  }
  Damage& last = gaps_.rbegin()->second;
  last.packets = std::min(last.packets + gap.packets, uint64_t{UINT32_MAX});
}

void DamageLog::AddNote(const Damage& note) {
  const NoteKey key{note.position, note.pts, note.sign};
  if (notes_.count(key) > 0) return;  // found again in another pass
  const Range range{.sign = note.sign,
                    .begin_pts = note.pts,
                    .end_pts = EndPtsOf(note),
                    .first_byte = note.position,
                    .last_byte = note.position};
  if (notes_.size() < kMostRanges) {
    notes_.emplace(key, range);
  } else {
    Join(range, notes_.rbegin()->second);
  }
}

void DamageLog::Add(const Damage& damage) {
  if (ipc::IsNote(damage.sign)) {
    AddNote(damage);
    return;
  }
  if (damage.not_in_index) {
    AddGap(damage);
    return;
  }
  if (damage.frame) {
    AddFrame(*damage.frame, damage);
  } else {
    AddUnplaced(damage);
  }
}

void DamageLog::AddUnplaced(const Damage& damage) {
  // Frames without a number cannot be recognised when a later pass finds them
  // again. So they are not summed: the report with the most frames counts.
  if (damage.packets > unplaced_.frames) {
    unplaced_.sign = damage.sign;
    unplaced_.frames = damage.packets;
    unplaced_.first_byte = damage.position;
    unplaced_.last_byte = std::max(damage.end_position - 1, damage.position);
  }
  if (unplaced_.words.empty()) unplaced_.words = damage.words;
}

void DamageLog::AddFrame(uint64_t frame, const Damage& damage) {
  // `before` and `after` are the ranges that begin up to and after the frame.
  const auto after = ranges_.upper_bound(frame);
  const auto before =
      after == ranges_.begin() ? ranges_.end() : std::prev(after);
  if (before != ranges_.end() && frame <= before->second.last) {
    // The frame is in the log; only the backend's words may be new.
    if (before->second.words.empty()) before->second.words = damage.words;
    return;
  }
  // A full log extends the range before the frame. If there is none, the log
  // gets one range too many, which is joined below with the range after it.
  const bool full = ranges_.size() == kMostRanges;
  const bool joins_before =
      before != ranges_.end() && (full || frame == before->second.last + 1);
  const auto range =
      joins_before
          ? before
          : ranges_.emplace_hint(after, frame, Range{.sign = damage.sign});
  Join({.last = frame,
        .frames = 1,
        .begin_pts = damage.pts,
        .end_pts = EndPtsOf(damage),
        .first_byte = damage.position,
        .last_byte = damage.position,
        .words = damage.words},
       range->second);
  // Joins the range with the next one if the frame closes the gap between them,
  // or if there is one range too many.
  const bool joins_after =
      after != ranges_.end() &&
      (after->first == frame + 1 || ranges_.size() > kMostRanges);
  if (!joins_after) return;
  Join(after->second, range->second);
  ranges_.erase(after);
}

bool DamageLog::Has(uint64_t first, uint64_t last) const {
  const auto after = ranges_.upper_bound(last);
  return after != ranges_.begin() && std::prev(after)->second.last >= first;
}

std::string DamageLog::WordsAbout(std::optional<uint64_t> frame) const {
  if (!frame) return unplaced_.words;
  const auto after = ranges_.upper_bound(*frame);
  if (after == ranges_.begin() || std::prev(after)->second.last < *frame) {
    return "";
  }
  return std::prev(after)->second.words;
}

void DamageLog::Join(const Range& later, Range& range) {
  range.last = later.last;
  range.frames += later.frames;
  // kNoTimestamp is less than any timestamp.
  if (range.begin_pts == ipc::kNoTimestamp) range.begin_pts = later.begin_pts;
  range.end_pts = std::max(range.end_pts, later.end_pts);
  if (range.words.empty()) range.words = later.words;
  if (later.first_byte < 0) return;
  range.first_byte = range.first_byte < 0
                         ? later.first_byte
                         : std::min(range.first_byte, later.first_byte);
  range.last_byte = std::max(range.last_byte, later.last_byte);
}

std::optional<double> TimeOf(int64_t pts, double seconds_per_unit) {
  constexpr double kMostSeconds = 1e10;  // three centuries
  if (pts == ipc::kNoTimestamp) return std::nullopt;
  const double seconds = static_cast<double>(pts) * seconds_per_unit;
  if (std::abs(seconds) > kMostSeconds) return std::nullopt;
  return seconds;
}

std::vector<DamagedRange> DamageLog::Ranges(double seconds_per_unit) const {
  const auto byte = [](int64_t position) -> std::optional<int64_t> {
    if (position < 0) return std::nullopt;
    return position;
  };
  const auto seconds = [=](int64_t pts) -> std::optional<double> {
    return TimeOf(pts, seconds_per_unit);
  };
  std::vector<DamagedRange> ranges;
  for (const auto& [first, range] : ranges_) {
    ranges.push_back({.sign = FromIpc(range.sign),
                      .frames = range.frames,
                      .first_frame = first,
                      .last_frame = range.last,
                      .begin_seconds = seconds(range.begin_pts),
                      .end_seconds = seconds(range.end_pts),
                      .first_byte = byte(range.first_byte),
                      .last_byte = byte(range.last_byte),
                      .backend_says = range.words});
  }
  if (unplaced_.frames > 0) {
    ranges.push_back({.sign = FromIpc(unplaced_.sign),
                      .frames = unplaced_.frames,
                      .first_byte = byte(unplaced_.first_byte),
                      .last_byte = byte(unplaced_.last_byte),
                      .backend_says = unplaced_.words});
  }
  for (const auto& [key, gap] : gaps_) {
    ranges.push_back(
        {.sign = FromIpc(gap.sign),
         .frames = gap.packets,
         .begin_seconds = seconds(gap.pts),
         .end_seconds = seconds(EndPtsOf(gap)),
         .first_byte = byte(gap.position),
         // Where bytes were cut out, the gap has no bytes of its own.
         .last_byte = byte(std::max(gap.end_position - 1, gap.position)),
         .backend_says = gap.words,
         .not_in_index = true});
  }
  for (const auto& [key, note] : notes_) {
    ranges.push_back({.kind = DamageKind::kNote,
                      .sign = FromIpc(note.sign),
                      .begin_seconds = seconds(note.begin_pts),
                      .end_seconds = seconds(note.end_pts),
                      .first_byte = byte(note.first_byte),
                      .last_byte = byte(note.last_byte)});
  }
  return ranges;
}

}  // namespace bulkhead::frames
