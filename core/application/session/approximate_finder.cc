// SPDX-License-Identifier: Apache-2.0
#include "core/application/session/approximate_finder.h"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

#include "core/base/status_macros.h"

namespace bulkhead::session {
namespace {

constexpr uint64_t kMaxWindow = 64;

}  // namespace

Result<FrameFinder::Found> ApproximateFinder::Find(
    worker_link::VideoLink& video, uint64_t i) {
  const int64_t earliest = index_[i].pts - allowance_;
  const bool onward = std::exchange(following_, false) &&
                      video.PlaysFor(this) && i == position_ + 1;
  if (!onward) {
    window_ = 1;
    RETURN_IF_ERROR(
        video.Play(this, {.start = worker_link::PlayRequest::Start::kKeyframe,
                          .keyframe_before = earliest,
                          .skip_before = earliest,
                          .max_frames = window_}));
  }
  for (;;) {
    ASSIGN_OR_RETURN(worker_link::PlayEvent event, video.Await());
    if (std::holds_alternative<worker_link::UnseenFrame>(event)) continue;
    if (std::holds_alternative<worker_link::Paused>(event)) {
      window_ = std::min(2 * window_, kMaxWindow);
      RETURN_IF_ERROR(
          video.Play(this, {.start = worker_link::PlayRequest::Start::kOnward,
                            .skip_before = earliest,
                            .max_frames = window_}));
      continue;
    }
    auto* const published = std::get_if<worker_link::PublishedFrame>(&event);
    if (!published) {
      return Status(Code::kOutOfRange, "the stream ends before frame " +
                                           std::to_string(i) +
                                           ", though its header counts " +
                                           std::to_string(index_.size()));
    }
    // The worker skips earlier frames itself, but publishes frames without a
    // timestamp. kNoTimestamp is less than any timestamp, so these are skipped
    // here.
    if (published->pts < earliest) continue;
    if (published->pts > earliest + 2 * allowance_) {
      return Status(Code::kBadInput,
                    "no frame is near the time that the header gives frame " +
                        std::to_string(i) + "; use the seek_mode exact");
    }
    if (published->damaged && !shows_damaged_) {
      frames::Damage damage = worker_link::DamageOf(*published);
      damage.frame = i;
      return FrameFinder::Found(std::move(damage));
    }
    following_ = true;
    position_ = i;
    return FrameFinder::Found(FoundFrame{i, std::move(*published)});
  }
}

}  // namespace bulkhead::session
