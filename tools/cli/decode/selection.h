// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/status.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace bulkhead::cli {

// Frames start, start + step, ... of a stream, `size` of them.
struct FrameRange {
  uint64_t start = 0;
  uint64_t step = 1;
  uint64_t size = 0;

  uint64_t at(uint64_t i) const { return start + i * step; }
  bool operator==(const FrameRange&) const = default;
};

// A Python slice, as `--frames` takes it: the end is exclusive, negative bounds
// count from the end of the stream, bounds beyond it are clipped. Values.
struct Slice {
  std::optional<int64_t> start;
  std::optional<int64_t> stop;
  int64_t step = 1;  // >= 1: frames are decoded forwards

  FrameRange Resolve(uint64_t frame_count) const;
  bool operator==(const Slice&) const = default;
};

// "A:B", "A:B:S", any of them left out. kInvalidArgument otherwise, and for a
// step below 1.
Result<Slice> ParseSlice(std::string_view text);

// "I,J,...", in that order, negatives and duplicates allowed.
Result<std::vector<int64_t>> ParseIndices(std::string_view text);

// The absolute form of an index that may count from the end. kOutOfRange when
// the stream has no such frame.
Result<uint64_t> ResolveIndex(int64_t index, uint64_t frame_count);

}  // namespace bulkhead::cli
