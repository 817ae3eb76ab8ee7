// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "core/application/frames/frame_selection.h"
#include "core/application/session/video_session.h"
#include "core/include/bulkhead/frame.h"
#include "core/include/bulkhead/status.h"

namespace bulkhead::session {

// Implements the calls of VideoDecoder that return many frames. Each call
// returns one block of pictures, all of one size and decoded by one device. If
// `into` is not empty, the pixels are written into it. The object is made for
// one call. Not thread-safe.
class VideoBatches {
 public:
  // `session` must outlive the object.
  explicit VideoBatches(VideoSession& session) : session_(session) {}

  Result<FrameBatch> At(std::span<const int64_t> indices,
                        std::span<std::byte> into);
  Result<FrameBatch> InRange(int64_t start, std::optional<int64_t> stop,
                             int64_t step, std::span<std::byte> into);
  Result<FrameBatch> PlayedAt(std::span<const double> seconds,
                              std::span<std::byte> into);
  Result<FrameBatch> PlayedInRange(double start, double stop,
                                   std::optional<double> fps,
                                   std::span<std::byte> into);
  Result<FrameBatch> All(std::optional<double> fps, std::span<std::byte> into);

 private:
  // Returns kInvalidArgument if the frames are native, not RGB: a batch is RGB.
  Status Check() const;
  // Returns kInvalidArgument if the frame's size differs from that of the
  // stream's first frame.
  Status CheckSize(const Frame& frame) const;
  // Returns a batch without pictures.
  FrameBatch Empty() const;
  // Returns the largest number of pictures that a batch may have.
  uint64_t MostFrames() const;
  // Returns nullopt if damage took the frame and on_corrupt is kSkip or kShow.
  Result<std::optional<Frame>> FetchOne(uint64_t index);
  // Returns the chosen frames as a batch, or the error of `choice`.
  Result<FrameBatch> Fetch(const Result<frames::FrameChoice>& choice,
                           std::span<std::byte> into);

  VideoSession& session_;
};

}  // namespace bulkhead::session
