// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/video_decoder.h>

#include <cstdint>
#include <optional>

#include "core/application/decoding/job.h"
#include "core/application/writers/picture.h"

namespace bulkhead::decoding {

// Returns whether a damaged frame without a picture is left out. With the other
// values of `on_corrupt`, such a frame is an error.
inline bool LeavesOut(OnCorrupt on_corrupt) {
  return on_corrupt == OnCorrupt::kSkip || on_corrupt == OnCorrupt::kShow;
}

// An iterator over the frames that are on the screen in a range of time, for
// --times and --fps. Holds at most two frames, however long the range is;
// VideoDecoder::FramesPlayedInRange would hold all of them. With a rate, it
// repeats or drops frames to meet the rate, numbers them from 0, and gives them
// the timestamps of that rate.
//
// A stop after the end of the stream is clipped to the end, as in a slice. A
// start after the end is kOutOfRange. OnCorrupt::kSkip leaves out all damaged
// frames, kShow those without a picture. With a rate, another frame is shown in
// place of a frame that is left out: the last intact frame before it, or, at
// the beginning, the first intact frame. The decoder must outlive the iterator.
// Not thread-safe.
class TimedFrames {
 public:
  static Result<TimedFrames> Create(VideoDecoder& video, const TimeRange& range,
                                    std::optional<Ratio> rate,
                                    OnCorrupt on_corrupt);

  // The number of frames that Next() will return, if known.
  std::optional<uint64_t> size() const;
  // Returns the next frame, or nullopt at the end. The picture is valid until
  // the next call.
  Result<std::optional<writers::Picture>> Next();

 private:
  TimedFrames(VideoDecoder& video, OnCorrupt on_corrupt)
      : video_(&video), on_corrupt_(on_corrupt) {}

  // Sets next_index_ to the frame that is on the screen at `seconds`.
  Status FindStart(double seconds);

  // Computes the time of the first frame and the number of frames at `rate`.
  Status SetRate(Ratio rate);
  // Implement Next() without and with a rate.
  Result<std::optional<writers::Picture>> NextFrame();
  Result<std::optional<writers::Picture>> NextAtRate();
  // Reads the next frame of the stream, without those that are left out.
  // Returns nullopt after the last frame.
  Result<std::optional<Frame>> Fetch();

  VideoDecoder* video_;
  OnCorrupt on_corrupt_;
  TimeRange range_;
  uint64_t count_ = 0;       // The number of frames in the stream.
  uint64_t next_index_ = 0;  // The frame of the stream to fetch next.
  std::optional<Frame> current_;

  std::optional<Ratio> rate_;
  // The members below are used with a rate only.
  double begin_ = 0;           // The time of the first frame, in seconds.
  uint64_t wanted_ = 0;        // The number of frames to return in all.
  uint64_t done_ = 0;          // The number of frames returned so far.
  std::optional<Frame> next_;  // The frame after current_ in the stream.
};

}  // namespace bulkhead::decoding
