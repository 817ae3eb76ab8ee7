// SPDX-License-Identifier: Apache-2.0
#include "core/application/frames/straight_record.h"

namespace bulkhead::frames {

std::optional<size_t> StraightRecord::FindEntry(size_t i) const {
  size_t behind = i + 1;  // frames from here on to `i` are not damaged
  for (auto entry = index_->EntryOf(i); entry;
       entry = *entry == 0 ? std::nullopt : index_->EntryOf(*entry - 1)) {
    for (; behind > *entry; --behind) {
      if (KnownDamaged(behind - 1)) return std::nullopt;
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
  // Pictures before the entry refer to frames that were not read, so what they
  // show says nothing.
  if (!from_beginning_ && pts < (*index_)[entry_].pts) return Verdict::kAgrees;
  if (!found || *found < next_) {
    return from_beginning_ ? Verdict::kAgrees : Verdict::kDoubtful;
  }
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
    // A frame that is not sound may be so because of the entry, unless the
    // record knows better.
  } else if (seen != Frame::kSound && known != Frame::kSound) {
    return Verdict::kDoubtful;
  } else if (known != Frame::kUnknown && known != seen) {
    unfit_[entry_] = true;
    return Verdict::kContradicts;
  }
  next_ = i + 1;
  return Verdict::kAgrees;
}

}  // namespace bulkhead::frames
