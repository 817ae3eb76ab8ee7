// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "core/include/bulkhead/frame.h"
#include "core/include/bulkhead/status.h"

namespace bulkhead::frames {

// The numbers of the frames that the caller wants, in the order of the result.
struct FrameChoice {
  std::vector<uint64_t> indices;
  // The time, in seconds, that each frame gets instead of its own time; empty
  // if frames keep their own times.
  std::vector<double> pts_seconds;
  // The duration of each frame. Set only together with pts_seconds.
  double duration_seconds = 0;
};

// Return the numbers of the frames at Python-style indices (-1 is the last
// frame), or kOutOfRange if there is no such frame.
Result<uint64_t> ResolveIndex(int64_t index, uint64_t frame_count);
Result<FrameChoice> ResolveIndices(std::span<const int64_t> indices,
                                   uint64_t frame_count);
// Returns the frames of Python's slice [start:stop:step]. Returns
// kInvalidArgument for a step below 1.
Result<FrameChoice> ResolveSlice(int64_t start, std::optional<int64_t> stop,
                                 int64_t step, uint64_t frame_count);

// Fetches the chosen frames and copies each to its place in `batch`. `batch`
// must have the size and the format of the pictures, and no pictures yet. Its
// caller_pixels (the caller's memory), if set, must have room for all frames.
//
// Calls `fetch` once for each distinct number, in ascending order, so that the
// stream is decoded once. A frame for which `fetch` returns nullopt is left out
// of the batch. An error of `fetch` is returned; the batch is then unusable.
Status FetchInto(
    FrameBatch& batch, const FrameChoice& choice,
    const std::function<Result<std::optional<Frame>>(uint64_t)>& fetch);

}  // namespace bulkhead::frames
