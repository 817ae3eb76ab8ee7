// SPDX-License-Identifier: Apache-2.0
#include "core/include/bulkhead/frame_iterator.h"

#include <utility>

#include "core/include/bulkhead/video_decoder.h"

namespace bulkhead {

FrameIterator::FrameIterator(VideoDecoder& decoder) : decoder_(&decoder) {
  ++*this;
}

FrameIterator& FrameIterator::operator++() {
  // The slot of the present frame must be free before the next frame is asked
  // for.
  current_.reset();
  if (failed_) return *this;
  Result<std::optional<Frame>> next = decoder_->Next();
  if (!next) {
    failed_ = true;
    current_.emplace(std::move(next).error());
  } else if (*next) {
    current_.emplace(**std::move(next));
  }
  return *this;
}

}  // namespace bulkhead
