// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <iterator>
#include <optional>

#include "bulkhead/frame.h"
#include "bulkhead/status.h"

namespace bulkhead {

class VideoDecoder;

// Iterates over the frames of a decoder in a range-based for loop:
//
//     for (Result<Frame>& frame : decoder) {
//       if (!frame) return frame.error();
//       Show(*frame);
//     }
//
// The loop ends after the last frame. An error also ends it, and is its last
// element. The loop may move the frame out of the element. If it does not, the
// frame is destroyed before the next frame is decoded, which frees its slot
// (frame.h). The iterator calls the decoder's Next(), so other calls of Next()
// or Rewind() move the loop too.
//
// An input iterator. The decoder must outlive it and must not be moved. Not
// thread-safe.
class FrameIterator {
 public:
  using iterator_concept = std::input_iterator_tag;
  using value_type = Result<Frame>;
  using difference_type = std::ptrdiff_t;

  explicit FrameIterator(VideoDecoder& decoder);
  FrameIterator(FrameIterator&&) = default;
  FrameIterator& operator=(FrameIterator&&) = default;

  Result<Frame>& operator*() const { return *current_; }
  FrameIterator& operator++();
  void operator++(int) { ++*this; }
  bool operator==(std::default_sentinel_t) const { return !current_; }

 private:
  VideoDecoder* decoder_;
  mutable std::optional<Result<Frame>> current_;  // Empty at the end.
  bool failed_ = false;
};

}  // namespace bulkhead
