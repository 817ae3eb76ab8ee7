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

// The numbers of frames, in the order in which the caller wants the frames.
struct FrameChoice {
  std::vector<uint64_t> indices;
  // The time at which each frame is shown, instead of its own time; empty where
  // frames keep their times.
  std::vector<double> pts_seconds;
  // The time for which each frame is shown. Set only together with pts_seconds.
  double duration_seconds = 0;
};

// Returns the number of the frame that `index` names, which may count from the
// end (-1 is the last frame). Returns kOutOfRange if there is no such frame.
Result<uint64_t> ResolveIndex(int64_t index, uint64_t frame_count);
Result<FrameChoice> ResolveIndices(std::span<const int64_t> indices,
                                   uint64_t frame_count);
// Returns the frames of Python's slice [start:stop:step]. Returns
// kInvalidArgument for a step below 1.
Result<FrameChoice> ResolveSlice(int64_t start, std::optional<int64_t> stop,
                                 int64_t step, uint64_t frame_count);

// Fetches the chosen frames and copies each to its place in `batch`, which must
// describe the size and format of the pictures and contain none yet; its
// caller_pixels have room for all of them, if there are any. Calls
// `fetch` for each number once and in ascending order, so that the stream is
// decoded once. A frame for which `fetch` returns nullopt is left out of the
// batch. After an error of `fetch`, which is returned, the batch is of no use.
Status FetchInto(
    FrameBatch& batch, const FrameChoice& choice,
    const std::function<Result<std::optional<Frame>>(uint64_t)>& fetch);

}  // namespace bulkhead::frames
