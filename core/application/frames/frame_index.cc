// SPDX-License-Identifier: Apache-2.0
#include "core/application/frames/frame_index.h"

#include <algorithm>
#include <string>

#include "ipc/limit_name.h"

namespace bulkhead::frames {
Status FrameIndex::TooManyFrames(uint64_t max_frames) {
  return Status(Code::kResourceExhausted,
                "the stream has more than " + std::to_string(max_frames) +
                    " frames; raise " + ipc::LimitName("index_frames") +
                    ", or decode it in order, without an index");
}

Status FrameIndex::Add(std::span<const ipc::IndexEntry> entries_untrusted) {
  if (entries_untrusted.size() > max_frames_ - entries_.size()) {
    return TooManyFrames(max_frames_);
  }
  entries_.insert(entries_.end(), entries_untrusted.begin(),
                  entries_untrusted.end());
  return Status();
}

void FrameIndex::Finish() {
  const auto earlier = [](const ipc::IndexEntry& a, const ipc::IndexEntry& b) {
    return a.pts < b.pts;
  };
  has_times_ = std::none_of(entries_.begin(), entries_.end(),
                            [](const ipc::IndexEntry& e) {
                              return e.pts == ipc::kNoTimestamp ||
                                     (e.disordered != 0 && e.derived != 1);
                            });
  // EntriesAscend() needs the order of the packets, so it precedes the sort.
  if (has_times_) has_times_ = EntriesAscend();
  if (has_times_) {
    std::stable_sort(entries_.begin(), entries_.end(), earlier);
    has_times_ = std::adjacent_find(entries_.begin(), entries_.end(),
                                    [](const auto& a, const auto& b) {
                                      return a.pts == b.pts;
                                    }) == entries_.end();
  }
  timestamped_ = has_times_ &&
                 std::none_of(entries_.begin(), entries_.end(),
                              [](const auto& e) { return e.disordered != 0; });
  for (size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].keyframe) keyframes_.push_back(static_cast<uint32_t>(i));
    if (IsEntry(entries_[i])) {
      access_points_.push_back(static_cast<uint32_t>(i));
    }
  }
}

bool FrameIndex::IsEntry(const ipc::IndexEntry& entry) const {
  return access_ == Access::kChecked ? entry.check != 0 : entry.keyframe != 0;
}

// Returns whether every frame at which decoding may begin is shown after all
// frames before it in the file. If timestamps begin anew in the middle of the
// file, this is false: a seek by timestamp could lead to either part. If no
// frame is an access point, checks the container's keyframes instead.
bool FrameIndex::EntriesAscend() const {
  const bool known =
      std::any_of(entries_.begin(), entries_.end(),
                  [this](const auto& entry) { return IsEntry(entry); });
  int64_t latest = INT64_MIN;
  for (const ipc::IndexEntry& entry : entries_) {
    const bool enters = known ? IsEntry(entry) : entry.keyframe != 0;
    if (enters && entry.pts < latest) return false;
    latest = std::max(latest, entry.pts);
  }
  return true;
}

std::optional<size_t> FrameIndex::Find(int64_t pts) const {
  const auto found = std::lower_bound(
      entries_.begin(), entries_.end(), pts,
      [](const ipc::IndexEntry& e, int64_t wanted) { return e.pts < wanted; });
  if (found == entries_.end() || found->pts != pts) return std::nullopt;
  return static_cast<size_t>(found - entries_.begin());
}

std::optional<size_t> FrameIndex::EntryOf(size_t i) const {
  const auto after =
      std::upper_bound(access_points_.begin(), access_points_.end(), i);
  if (after == access_points_.begin()) return std::nullopt;
  return *std::prev(after);
}

}  // namespace bulkhead::frames
