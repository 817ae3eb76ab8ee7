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

// The calls of a video stream that return many frames: each returns one block
// of pictures of one size, all of one device. The calls behave as VideoDecoder
// documents them.
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
  // Returns kInvalidArgument if the frames cannot be in a batch.
  Status Check() const;
  // Returns kInvalidArgument if the frame is of another size than the first.
  Status CheckSize(const Frame& frame) const;
  // Empty() returns a batch without pictures. MostFrames() returns the most
  // pictures that a batch may have.
  FrameBatch Empty() const;
  uint64_t MostFrames() const;
  Result<std::optional<Frame>> FetchOne(uint64_t index);
  Result<FrameBatch> Fetch(const Result<frames::FrameChoice>& choice,
                           std::span<std::byte> into);

  VideoSession& session_;
};

}  // namespace bulkhead::session
