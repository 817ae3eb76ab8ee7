// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/timed_frames.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace bulkhead::cli {

Result<TimedFrames> TimedFrames::Create(VideoDecoder& video,
                                        const TimeRange& range,
                                        std::optional<Ratio> rate) {
  TimedFrames frames(video);
  frames.range_ = range;
  Result<uint64_t> count = video.FrameCount();
  if (!count) return count.error();
  frames.count_ = *count;
  if (range.start) {
    Result<Frame> first = video.FramePlayedAt(*range.start);
    if (!first) return first.error();
    frames.next_index_ = first->index();
  }
  if (rate) {
    if (Status status = frames.SetRate(*rate); !status.ok()) return status;
  }
  return frames;
}

Status TimedFrames::SetRate(Ratio rate) {
  rate_ = rate;
  if (Status status = LookAhead(); !status.ok()) return status;
  if (!next_) return Status();
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

Result<std::optional<Picture>> TimedFrames::Next() {
  return rate_ ? NextAtRate() : NextFrame();
}

Result<std::optional<Picture>> TimedFrames::NextFrame() {
  if (next_index_ >= count_) return std::optional<Picture>();
  Result<Frame> frame = video_->FrameAt(static_cast<int64_t>(next_index_));
  if (!frame) return frame.error();
  if (range_.stop &&
      (frame->pts_seconds() >= *range_.stop || range_.start == range_.stop)) {
    return std::optional<Picture>();
  }
  ++next_index_;
  current_ = *std::move(frame);
  return std::optional(PictureOf(*current_));
}

Result<std::optional<Picture>> TimedFrames::NextAtRate() {
  if (done_ >= wanted_) return std::optional<Picture>();
  const double at = begin_ + static_cast<double>(done_) / rate_->value();
  while (next_ && (!current_ || next_->pts_seconds() <= at)) {
    current_ = std::exchange(next_, std::nullopt);
    if (Status status = LookAhead(); !status.ok()) return status;
  }
  Picture picture = PictureOf(*current_);
  const double tick = video_->metadata().time_base.value();
  picture.index = done_++;
  picture.pts = std::llround(at / tick);
  picture.duration = std::llround(1 / rate_->value() / tick);
  return std::optional(picture);
}

Status TimedFrames::LookAhead() {
  if (next_index_ >= count_) return Status();
  Result<Frame> frame = video_->FrameAt(static_cast<int64_t>(next_index_));
  if (!frame) return frame.error();
  ++next_index_;
  next_ = *std::move(frame);
  return Status();
}

}  // namespace bulkhead::cli
