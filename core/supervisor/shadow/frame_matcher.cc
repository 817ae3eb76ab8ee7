// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/shadow/frame_matcher.h"

#include "ipc/index_entry.h"

namespace bulkhead::shadow {

void FrameMatcher::Show(const ShownFrame& frame) {
  if (waiting_.size() >= kMostWaiting) {
    Skip(frame);
    return;
  }
  waiting_.push_back(frame);
  Match();
}

void FrameMatcher::Decoded(const ShadowPicture& picture) {
  if (pictures_ > 0 && timed_) {
    // By now Match() has used or passed over the picture before this one, and
    // last_pts_ is its timestamp.
    timed_ = last_pts_ && picture.pts > *last_pts_;
  }
  if (picture.pts == ipc::kNoTimestamp) timed_ = false;
  picture_ = picture;
  ++pictures_;
  Match();
}

void FrameMatcher::Ended() {
  ended_ = true;
  Match();
}

void FrameMatcher::MetDamage() {
  damaged_ = true;
  Match();
}

FrameMatcher::Place FrameMatcher::PlaceFor(const ShownFrame& frame) const {
  if (frame.ended) return Place::kBefore;
  if (timed_ && frame.pts != ipc::kNoTimestamp) {
    if (picture_->pts == frame.pts) return Place::kSame;
    return picture_->pts < frame.pts ? Place::kBefore : Place::kAfter;
  }
  if (!frame.in_order) return Place::kUnknown;
  const uint64_t number = pictures_ - 1;
  if (number == frame.number) return Place::kSame;
  return number < frame.number ? Place::kBefore : Place::kAfter;
}

void FrameMatcher::JudgeWithoutPicture(const ShownFrame& frame) {
  if (!damaged_ && !frame.ended && !frame.damaged && Follows(frame)) {
    next_ = frame.number + 1;
    Count(frame, "whether it is there: " + against_ + " is at its end");
  } else {
    Skip(frame);
  }
}

void FrameMatcher::UsePicture() {
  last_pts_ = picture_->pts;
  picture_.reset();
}

void FrameMatcher::Match() {
  while (!waiting_.empty()) {
    if (!picture_ && !over()) return;
    const ShownFrame frame = waiting_.front();
    // The shadow has no more pictures to compare.
    if (damaged_ || !picture_) {
      waiting_.pop_front();
      JudgeWithoutPicture(frame);
      continue;
    }
    switch (PlaceFor(frame)) {
      case Place::kBefore:
        // The application did not get this picture. That is a difference only
        // if it reads in order.
        if (Follows(frame)) {
          Count(frame,
                "whether there is a frame before it: " + against_ + " has one");
        }
        UsePicture();
        continue;
      case Place::kSame:
        if (frame.damaged) {
          Skip(frame);
        } else {
          Count(frame, frame.hash == picture_->hash ? "" : "its picture");
        }
        UsePicture();
        if (frame.in_order) {
          next_ = frame.number + 1;
        } else {
          next_.reset();
        }
        break;
      case Place::kAfter:
        // The shadow has passed the frame's place. Either the shadow lacks the
        // frame, or the application has sought back.
        if (timed_ && !frame.damaged && Follows(frame) &&
            (!last_pts_ || frame.pts > *last_pts_)) {
          next_ = frame.number + 1;
          Count(frame,
                "whether it is there: " + against_ + " has no such frame");
        } else {
          Skip(frame);
        }
        break;
      case Place::kUnknown:
        Skip(frame);
        break;
    }
    waiting_.pop_front();
  }
}

void FrameMatcher::Count(const ShownFrame& frame,
                         const std::string& difference) {
  ++compared_;
  if (difference.empty()) return;
  ++differing_;
  if (first_) return;
  first_ = {.frame = frame.number,
            .seconds = frame.seconds,
            .words = difference,
            .compared = compared_};
}

void FrameMatcher::Skip(const ShownFrame& frame) {
  if (!frame.ended) ++not_compared_;
}

}  // namespace bulkhead::shadow
