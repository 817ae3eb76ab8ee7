// SPDX-License-Identifier: Apache-2.0
#include "core/application/frames/frame_selection.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>

#include "core/base/status_macros.h"

namespace bulkhead::frames {

Result<uint64_t> ResolveIndex(int64_t index, uint64_t frame_count) {
  const auto count = static_cast<int64_t>(frame_count);
  const int64_t from_start = index < 0 ? index + count : index;
  if (from_start < 0 || from_start >= count) {
    return Status(Code::kOutOfRange,
                  "there is no frame " + std::to_string(index) +
                      ", the stream has " + std::to_string(count));
  }
  return static_cast<uint64_t>(from_start);
}

Result<FrameChoice> ResolveIndices(std::span<const int64_t> indices,
                                   uint64_t frame_count) {
  FrameChoice choice;
  choice.indices.reserve(indices.size());
  for (const int64_t index : indices) {
    ASSIGN_OR_RETURN(const uint64_t resolved, ResolveIndex(index, frame_count));
    choice.indices.push_back(resolved);
  }
  return choice;
}

Result<FrameChoice> ResolveSlice(int64_t start, std::optional<int64_t> stop,
                                 int64_t step, uint64_t frame_count) {
  if (step < 1) {
    return Status(Code::kInvalidArgument, "step is " + std::to_string(step) +
                                              "; it must be at least 1");
  }
  const auto count = static_cast<int64_t>(frame_count);
  const auto clip = [count](int64_t bound) {
    return std::clamp<int64_t>(bound < 0 ? bound + count : bound, 0, count);
  };
  const int64_t end = stop ? clip(*stop) : count;
  FrameChoice choice;
  for (int64_t i = clip(start); i < end; i += std::min(step, count)) {
    choice.indices.push_back(static_cast<uint64_t>(i));
  }
  return choice;
}

namespace {

// Closes the gaps in the batch where `present` is false.
void Compact(FrameBatch& batch, std::byte* pixels,
             const std::vector<bool>& present) {
  const size_t picture_bytes = batch.picture_bytes();
  size_t kept = 0;
  for (size_t at = 0; at < present.size(); ++at) {
    if (!present[at]) continue;
    if (kept < at) {
      std::memcpy(pixels + kept * picture_bytes, pixels + at * picture_bytes,
                  picture_bytes);
      batch.pts_seconds[kept] = batch.pts_seconds[at];
      batch.duration_seconds[kept] = batch.duration_seconds[at];
    }
    ++kept;
  }
  if (batch.caller_pixels.empty()) batch.pixels.resize(kept * picture_bytes);
  batch.pts_seconds.resize(kept);
  batch.duration_seconds.resize(kept);
}

}  // namespace

Status FetchInto(
    FrameBatch& batch, const FrameChoice& choice,
    const std::function<Result<std::optional<Frame>>(uint64_t)>& fetch) {
  const std::vector<uint64_t>& indices = choice.indices;
  const size_t picture_bytes = batch.picture_bytes();
  const size_t row_bytes = picture_bytes / batch.height;
  if (batch.caller_pixels.empty()) {
    batch.pixels.resize(picture_bytes * indices.size());
  }
  std::byte* const pixels = batch.caller_pixels.empty()
                                ? batch.pixels.data()
                                : batch.caller_pixels.data();
  batch.pts_seconds.resize(indices.size());
  batch.duration_seconds.resize(indices.size());
  std::vector<bool> present(indices.size());
  // The positions in the batch, sorted by the numbers of their frames.
  std::vector<size_t> order(indices.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return indices[a] < indices[b]; });
  for (size_t n = 0; n < order.size(); ++n) {
    const size_t at = order[n];
    std::byte* const out = pixels + at * picture_bytes;
    // The previous round fetched the same frame, so its picture is copied.
    if (n > 0 && indices[order[n - 1]] == indices[at]) {
      const size_t twin = order[n - 1];
      present[at] = present[twin];
      std::memcpy(out, pixels + twin * picture_bytes, picture_bytes);
      batch.pts_seconds[at] = batch.pts_seconds[twin];
      batch.duration_seconds[at] = batch.duration_seconds[twin];
      continue;
    }
    ASSIGN_OR_RETURN(const std::optional<Frame> frame, fetch(indices[at]));
    if (!frame) continue;
    present[at] = true;
    for (uint32_t y = 0; y < batch.height; ++y) {
      std::memcpy(out + y * row_bytes, frame->row(y).data(), row_bytes);
    }
    batch.pts_seconds[at] = frame->pts_seconds();
    batch.duration_seconds[at] = frame->duration_seconds();
  }
  if (!choice.pts_seconds.empty()) {
    batch.pts_seconds = choice.pts_seconds;
    batch.duration_seconds.assign(indices.size(), choice.duration_seconds);
  }
  Compact(batch, pixels, present);
  return Status();
}

}  // namespace bulkhead::frames
