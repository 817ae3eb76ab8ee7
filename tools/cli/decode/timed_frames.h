// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/video_decoder.h>

#include <cstdint>
#include <optional>

#include "tools/cli/decode/output_words.h"
#include "tools/cli/writers/picture.h"

namespace bulkhead::cli {

// The frames that are on the screen in a range of time, one after the other,
// however long the range is: what FramesPlayedInRange would hold all at once.
// With a rate they are repeated or left out, numbered from 0, and have the
// times of that rate.
//
// A stop behind the end of the stream is the end, as of a slice; a start behind
// it is kOutOfRange. With OnCorrupt::kSkip damaged frames are left out: at a
// rate the frame before them is repeated, or the first sound one is put first.
// The decoder outlives it. One thread.
class TimedFrames {
 public:
  static Result<TimedFrames> Create(VideoDecoder& video, const TimeRange& range,
                                    std::optional<Ratio> rate,
                                    OnCorrupt on_corrupt);

  // How many there are, if that is known.
  std::optional<uint64_t> size() const;
  // Empty at the end. Valid until the next call.
  Result<std::optional<Picture>> Next();

 private:
  TimedFrames(VideoDecoder& video, OnCorrupt on_corrupt)
      : video_(&video), on_corrupt_(on_corrupt) {}

  // Sets next_index_ to the frame that is on the screen then.
  Status FindStart(double seconds);

  // With a rate: from when, until when, and so how many.
  Status SetRate(Ratio rate);
  Result<std::optional<Picture>> NextFrame();
  Result<std::optional<Picture>> NextAtRate();
  // The frame that is next; nullopt behind the last.
  Result<std::optional<Frame>> Fetch();

  VideoDecoder* video_;
  OnCorrupt on_corrupt_;
  TimeRange range_;
  uint64_t count_ = 0;       // of the stream
  uint64_t next_index_ = 0;  // in the stream
  std::optional<Frame> current_;

  std::optional<Ratio> rate_;
  double begin_ = 0;
  uint64_t wanted_ = 0;
  uint64_t done_ = 0;
  std::optional<Frame> next_;
};

}  // namespace bulkhead::cli
