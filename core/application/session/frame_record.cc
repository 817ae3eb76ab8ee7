// SPDX-License-Identifier: Apache-2.0
#include "core/application/session/frame_record.h"

#include <algorithm>

#include "ipc/index_entry.h"

namespace bulkhead::session {

void FrameRecord::Add(const Stamp& stamp, uint64_t fingerprint) {
  if (stamp.pts == ipc::kNoTimestamp ||
      (!stamps_.empty() && stamp.pts <= stamps_.back().pts)) {
    ascending_ = false;
  }
  stamps_.push_back(stamp);
  witness_.Record(fingerprint);
  if (stamps_.size() <= most_) return;
  if (stamps_.front().check != 0) earlier_point_ = stamps_.front();
  stamps_.pop_front();
  witness_.DropOldest();
  ++dropped_;
}

void FrameRecord::Clear() {
  stamps_.clear();
  witness_.Rewind();
  earlier_point_.reset();
  dropped_ = 0;
  ascending_ = true;
}

worker_link::PlayRequest FrameRecord::PlayTo(size_t at) const {
  worker_link::PlayRequest play{
      .start = worker_link::PlayRequest::Start::kBeginning};
  const auto end = stamps_.rend();
  const auto begin = end - static_cast<std::ptrdiff_t>(at + 1);
  const auto found = std::find_if(
      begin, end, [](const Stamp& stamp) { return stamp.check != 0; });
  const Stamp* const point = found != end     ? &*found
                             : earlier_point_ ? &*earlier_point_
                                              : nullptr;
  if (point == nullptr) return play;
  play.start = worker_link::PlayRequest::Start::kPacket;
  play.entry.pts = point->pts;
  play.entry.position = point->position;
  play.entry.check = point->check;
  return play;
}

uint64_t FrameRecord::DeliveredOfLast(uint64_t count) const {
  return static_cast<uint64_t>(std::count_if(
      stamps_.end() - static_cast<std::ptrdiff_t>(count), stamps_.end(),
      [](const Stamp& stamp) { return stamp.delivered; }));
}

bool FrameRecord::IsSame(size_t at, const Stamp& again, uint64_t fingerprint,
                         const Compared& compared) const {
  const Stamp& recorded = stamps_[at];
  if (recorded.pts != again.pts ||
      (compared.positions && recorded.position != again.position)) {
    return false;
  }
  // If durations differ here, the durations of later frames would differ, too.
  if (compared.durations && fingerprint != 0 &&
      recorded.duration != again.duration) {
    return false;
  }
  return !compared.pictures || witness_.IsSame(dropped_ + at, fingerprint);
}

}  // namespace bulkhead::session
