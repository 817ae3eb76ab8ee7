// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <iterator>
#include <optional>

#include "bulkhead/frame.h"
#include "bulkhead/status.h"

namespace bulkhead {

class VideoDecoder;

// The frames of a decoder, one after the other, as a range-based for takes
// them:
//
//     for (Result<Frame>& frame : decoder) {
//       if (!frame) return frame.error();
//       Show(*frame);
//     }
//
// A failure is the last thing that it yields, and the loop then ends. What it
// yields may be moved from; else it is destroyed before the next is decoded.
// Whatever else moves the decoder's Next() moves the loop too. An input
// iterator; the decoder outlives it, and stays where it is.
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
  mutable std::optional<Result<Frame>> current_;  // empty: at the end
  bool failed_ = false;
};

}  // namespace bulkhead
