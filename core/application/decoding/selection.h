// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/status.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace bulkhead::decoding {

// The `size` frames start, start + step, start + 2 * step, ... of a stream.
struct FrameRange {
  uint64_t start = 0;
  uint64_t step = 1;
  uint64_t size = 0;

  uint64_t at(uint64_t i) const { return start + i * step; }
  bool operator==(const FrameRange&) const = default;
};

// The argument of `--frames`, a Python slice: the end is exclusive, negative
// bounds count from the end of the stream, and bounds beyond the stream are
// clipped. A value type.
struct Slice {
  std::optional<int64_t> start;
  std::optional<int64_t> stop;
  int64_t step = 1;  // At least 1: frames are decoded forwards.

  // Returns the frames that the slice selects in a stream of `frame_count`.
  FrameRange Resolve(uint64_t frame_count) const;
  bool operator==(const Slice&) const = default;
};

// Parses "A:B" or "A:B:S", where each number may be absent. Returns
// kInvalidArgument for other texts and for a step below 1.
Result<Slice> ParseSlice(std::string_view text);

// Parses "I,J,..." and keeps the order. Negative and repeated indices are
// valid.
Result<std::vector<int64_t>> ParseIndices(std::string_view text);

// Returns the index counted from the beginning; a negative `index` counts from
// the end. Returns kOutOfRange if the stream has no such frame.
Result<uint64_t> ResolveIndex(int64_t index, uint64_t frame_count);

}  // namespace bulkhead::decoding
