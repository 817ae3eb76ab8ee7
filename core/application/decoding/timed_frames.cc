// SPDX-License-Identifier: Apache-2.0
#include "core/application/decoding/timed_frames.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace bulkhead::decoding {

Result<TimedFrames> TimedFrames::Create(VideoDecoder& video,
                                        const TimeRange& range,
                                        std::optional<Ratio> rate,
                                        OnCorrupt on_corrupt) {
  TimedFrames frames(video, on_corrupt);
  frames.range_ = range;
  Result<uint64_t> count = video.FrameCount();
  if (!count) return count.error();
  frames.count_ = *count;
  if (range.start) {
    if (Status status = frames.FindStart(*range.start); !status.ok()) {
      return status;
    }
  }
  if (rate) {
    if (Status status = frames.SetRate(*rate); !status.ok()) return status;
  }
  return frames;
}

Status TimedFrames::FindStart(double seconds) {
  Result<Frame> first = video_->FramePlayedAt(seconds);
  if (first) {
    next_index_ = first->index();
    return Status();
  }
  const bool damaged = first.error().code() == Code::kBadInput;
  if (!damaged || !LeavesOut(on_corrupt_)) return first.error();
  // FramePlayedAt() has recorded the damage that it met. So the frame at
  // `seconds` is in the last damaged range that begins at or before `seconds`.
  // The iterator starts after that range.
  std::optional<uint64_t> last;
  for (const DamagedRange& range : video_->damage()) {
    if (range.last_frame && range.begin_seconds &&
        *range.begin_seconds <= seconds) {
      last = range.last_frame;
    }
  }
  if (!last) return first.error();
  next_index_ = *last + 1;
  return Status();
}

Status TimedFrames::SetRate(Ratio rate) {
  rate_ = rate;
  Result<std::optional<Frame>> first = Fetch();
  if (!first) return first.error();
  if (!*first) return Status();
  next_ = *std::move(first);
  Result<SecondsRange> played = video_->PlayedRange();
  if (!played) return played.error();
  begin_ = range_.start.value_or(played->begin);
  const double stop = std::min(range_.stop.value_or(played->end), played->end);
  wanted_ = static_cast<uint64_t>(
      std::max(0.0, std::round((stop - begin_) * rate.value())));
  return Status();
}

std::optional<uint64_t> TimedFrames::size() const {
  if (rate_) return wanted_;
  if (range_.stop) return std::nullopt;
  return count_ - next_index_;
}

Result<std::optional<writers::Picture>> TimedFrames::Next() {
  return rate_ ? NextAtRate() : NextFrame();
}

Result<std::optional<writers::Picture>> TimedFrames::NextFrame() {
  Result<std::optional<Frame>> frame = Fetch();
  if (!frame) return frame.error();
  // An empty range (start == stop) has no frame, although a frame is on the
  // screen at that time.
  if (!*frame || (range_.stop && ((*frame)->pts_seconds() >= *range_.stop ||
                                  range_.start == range_.stop))) {
    return std::optional<writers::Picture>();
  }
  current_ = **std::move(frame);
  return std::optional(writers::PictureOf(*current_));
}

Result<std::optional<writers::Picture>> TimedFrames::NextAtRate() {
  if (done_ >= wanted_) return std::optional<writers::Picture>();
  const double at = begin_ + static_cast<double>(done_) / rate_->value();
  // Goes on to the last frame that begins at or before the time `at`.
  while (next_ && (!current_ || next_->pts_seconds() <= at)) {
    current_ = std::exchange(next_, std::nullopt);
    Result<std::optional<Frame>> later = Fetch();
    if (!later) return later.error();
    next_ = *std::move(later);
  }
  writers::Picture picture = writers::PictureOf(*current_);
  const double tick = video_->metadata().time_base.value();
  picture.index = done_++;
  picture.pts = std::llround(at / tick);
  picture.duration = std::llround(1 / rate_->value() / tick);
  return std::optional(picture);
}

Result<std::optional<Frame>> TimedFrames::Fetch() {
  while (next_index_ < count_) {
    Result<Frame> frame = video_->FrameAt(static_cast<int64_t>(next_index_++));
    if (frame) return std::make_optional(*std::move(frame));
    const bool damaged = frame.error().code() == Code::kBadInput;
    if (!damaged || !LeavesOut(on_corrupt_)) return frame.error();
  }
  return std::optional<Frame>();
}

}  // namespace bulkhead::decoding
