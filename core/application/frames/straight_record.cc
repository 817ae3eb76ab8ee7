// SPDX-License-Identifier: Apache-2.0
#include "core/application/frames/straight_record.h"

namespace bulkhead::frames {

std::optional<size_t> StraightRecord::FindEntry(size_t i) const {
  // Tries the entries from the last to the first. Damage after an entry rules
  // out all earlier entries, too. No frame from clean_from to `i` is known to
  // be damaged.
  size_t clean_from = i + 1;
  for (auto entry = index_->EntryOf(i); entry;
       entry = *entry == 0 ? std::nullopt : index_->EntryOf(*entry - 1)) {
    for (; clean_from > *entry; --clean_from) {
      if (KnownDamaged(clean_from - 1)) return std::nullopt;
    }
    if (!unfit_[*entry]) return entry;
  }
  return std::nullopt;
}

bool StraightRecord::EnterAt(int64_t entry_pts) {
  const auto found = index_->Find(entry_pts);
  if (!found || unfit_[*found]) return false;
  from_beginning_ = false;
  entry_ = *found;
  next_ = entry_;
  return true;
}

void StraightRecord::EnterAtBeginning() {
  from_beginning_ = true;
  entry_ = 0;
  next_ = 0;
}

StraightRecord::Verdict StraightRecord::Saw(int64_t pts, int64_t position,
                                            bool damaged) {
  const auto found = index_->Find(pts);
  // Pictures before the entry (leading pictures of an open GOP) depend on
  // frames that were not decoded, so they show nothing about this entry.
  if (!from_beginning_ && pts < (*index_)[entry_].pts) return Verdict::kAgrees;
  // The picture is not in the index, or comes too late.
  if (!found || *found < next_) {
    return from_beginning_ ? Verdict::kAgrees : Verdict::kDoubtful;
  }
  // With another offset in the file, this is not the packet of the index: its
  // timestamp repeats, or libavformat guessed it after the seek.
  const int64_t known = (*index_)[*found].position;
  if (!from_beginning_ && known >= 0 && position >= 0 && known != position) {
    unfit_[entry_] = true;
    return Verdict::kDoubtful;
  }
  if (const Verdict missed = Miss(*found); missed != Verdict::kAgrees) {
    return missed;
  }
  return Meet(next_, damaged ? Frame::kDamaged : Frame::kSound);
}

StraightRecord::Verdict StraightRecord::SawEnd() {
  return Miss(frames_.size());
}

StraightRecord::Verdict StraightRecord::Miss(size_t end) {
  while (next_ < end) {
    const Verdict verdict = Meet(next_, Frame::kMissing);
    if (verdict != Verdict::kAgrees) return verdict;
  }
  return Verdict::kAgrees;
}

StraightRecord::Verdict StraightRecord::Meet(size_t i, Frame seen) {
  Frame& known = frames_[i];
  if (from_beginning_) {
    known = seen;
  } else if (seen != Frame::kSound && known != Frame::kSound) {
    // The frame may be bad only because the pass began at this entry.
    return Verdict::kDoubtful;
  } else if (known != Frame::kUnknown && known != seen) {
    unfit_[entry_] = true;
    return Verdict::kContradicts;
  }
  next_ = i + 1;
  return Verdict::kAgrees;
}

}  // namespace bulkhead::frames
