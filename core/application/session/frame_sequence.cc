// SPDX-License-Identifier: Apache-2.0
#include "core/application/session/frame_sequence.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "core/application/session/unseen_damage.h"
#include "core/base/status_macros.h"
#include "ipc/limit_name.h"

namespace bulkhead::session {
namespace {

// The number of recorded frames that a replay compares before it continues.
// Comparing more would cost conversions and show nothing new, since each frame
// depends on the frames before.
constexpr size_t kComparedFrames = 3;

// Returns the damage that the sequence shows for an event, if any. Frames that
// a play skips before its first frame are not part of the sequence.
std::optional<Damage> DamageOf(const PlayEvent& event) {
  if (const auto* published = std::get_if<PublishedFrame>(&event)) {
    if (!published->damaged) return std::nullopt;
    return Damage{.pts = published->pts,
                  .duration = published->duration,
                  .position = published->position};
  }
  const auto* unseen = std::get_if<UnseenFrame>(&event);
  if (!unseen || (unseen->fate != UnseenFrame::Fate::kLost &&
                  unseen->fate != UnseenFrame::Fate::kNotInIndex)) {
    return std::nullopt;
  }
  return DamageOf(*unseen);
}

}  // namespace

Result<FrameSequence::Event> FrameSequence::Next(VideoLink& video) {
  if (!playing_) RETURN_IF_ERROR(Resume(video));
  playing_ = true;
  for (;;) {
    ASSIGN_OR_RETURN(PlayEvent event, video.Await());
    if (std::holds_alternative<EndOfStream>(event)) {
      ended_ = true;
      return Event(EndOfStream{});
    }
    auto* const published = std::get_if<PublishedFrame>(&event);
    std::optional<Damage> damage = DamageOf(event);
    if (!published && !damage) continue;
    if (damage && damage->not_in_index) {
      // The worker that takes over from a dead one meets it again.
      if (!gaps_told_.insert(KeyOf(*damage)).second) continue;
      log_.Add(*damage);
      return Event(*damage);
    }
    const int64_t pts = published ? published->pts : damage->pts;
    if (pts == ipc::kNoTimestamp ||
        (!seen_.empty() && pts <= seen_.back().pts)) {
      ascending_ = false;
    }
    const uint64_t number = next();
    Record({pts, published ? published->fingerprint : 0});
    frames_ += damage ? damage->frames : 1;
    if (damage) {
      if (damage->frames == 1) damage->frame = number;
      log_.Add(*damage);
    }
    if (published && (!damage || shows_damaged_)) {
      return Event(std::move(*published));
    }
    return Event(*damage);
  }
}

void FrameSequence::Record(Stamp stamp) {
  gaps_told_.clear();
  seen_.push_back(stamp);
  if (seen_.size() <= std::max(most_recorded_, uint64_t{kComparedFrames})) {
    return;
  }
  seen_.pop_front();
  ++dropped_;
}

void FrameSequence::Rewind() {
  seen_.clear();
  gaps_told_.clear();
  dropped_ = 0;
  frames_ = 0;
  ascending_ = true;
  ended_ = false;
  playing_ = false;
}

Status FrameSequence::Resume(VideoLink& video) {
  const size_t count = seen_.size();
  // A seek needs ascending timestamps: they give the place to seek to, and show
  // which of the frames that come are recorded already.
  if (count > 0 && ascending_) {
    const size_t first = count - std::min(count, kComparedFrames);
    RETURN_IF_ERROR(video.Play({.start = PlayRequest::Start::kKeyframe,
                                .keyframe_before = seen_.back().pts,
                                .skip_before = seen_[first].pts}));
    const auto matched = DropSeen(video, first);
    if (matched && *matched) return Status();
    // A failed seek of a worker that lives, like a record that does not match,
    // says nothing about decoding from the beginning.
    if (!matched && video.dead()) return matched.error();
  }
  if (dropped_ > 0) {
    return Status(Code::kResourceExhausted,
                  "its worker was lost, and another one would have to decode "
                  "it from the beginning, but only the last " +
                      std::to_string(count) + " frames are remembered; raise " +
                      ipc::LimitName("index_frames") + " and start over");
  }
  RETURN_IF_ERROR(video.Play({.start = PlayRequest::Start::kBeginning}));
  if (count > 0) {
    ASSIGN_OR_RETURN(const bool matched, DropSeen(video, 0));
    if (!matched) {
      return Status(Code::kBadInput,
                    "it was decoded again in a new worker, and the pictures "
                    "differ from those that were delivered, so it cannot go "
                    "on: either the file was changed meanwhile, or its decoder "
                    "does not give the same pictures twice; open it again from "
                    "the start, on another device if that happens again");
    }
  }
  return Status();
}

Result<bool> FrameSequence::DropSeen(VideoLink& video, size_t first) {
  for (size_t expected = first; expected < seen_.size();) {
    ASSIGN_OR_RETURN(PlayEvent event, video.Await());
    Stamp seen;
    if (const auto* published = std::get_if<PublishedFrame>(&event)) {
      seen = {published->pts, published->fingerprint};
    } else if (const auto* unseen = std::get_if<UnseenFrame>(&event)) {
      if (unseen->fate != UnseenFrame::Fate::kLost) continue;
      // The worker also reports damage between the keyframe and the first frame
      // to compare.
      if (first > 0 && unseen->pts < seen_[first].pts) continue;
      seen = {unseen->pts, 0};
    } else {
      return false;
    }
    // After a seek the first frame may be any of those that are compared: a
    // frame of the record that a damaged packet took part in may not come.
    while (expected == first && first > 0 && first + 1 < seen_.size() &&
           seen_[first].pts < seen.pts) {
      expected = ++first;
    }
    if (seen_[expected] != seen) return false;
    ++expected;
  }
  return true;
}

}  // namespace bulkhead::session
