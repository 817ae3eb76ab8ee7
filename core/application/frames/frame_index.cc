// SPDX-License-Identifier: Apache-2.0
#include "core/application/frames/frame_index.h"

#include <algorithm>
#include <string>

#include "ipc/limit_name.h"

namespace bulkhead::session {
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
  timestamped_ = std::none_of(
      entries_.begin(), entries_.end(), [](const ipc::IndexEntry& e) {
        return e.pts == ipc::kNoTimestamp || e.disordered != 0;
      });
  if (timestamped_) timestamped_ = KeyframesAscend();
  if (timestamped_) {
    std::stable_sort(entries_.begin(), entries_.end(), earlier);
    timestamped_ = std::adjacent_find(entries_.begin(), entries_.end(),
                                      [](const auto& a, const auto& b) {
                                        return a.pts == b.pts;
                                      }) == entries_.end();
  }
  for (size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].keyframe) keyframes_.push_back(static_cast<uint32_t>(i));
  }
}

// Returns true if each keyframe is shown after everything that was decoded
// before it. In a file whose timestamps begin anew in the middle, a seek by
// timestamp would find either part.
bool FrameIndex::KeyframesAscend() const {
  int64_t latest = INT64_MIN;
  for (const ipc::IndexEntry& entry : entries_) {
    if (entry.keyframe && entry.pts < latest) return false;
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

size_t FrameIndex::KeyframeOf(size_t i) const {
  const auto after = std::upper_bound(keyframes_.begin(), keyframes_.end(), i);
  return after == keyframes_.begin() ? 0 : *std::prev(after);
}

}  // namespace bulkhead::session
