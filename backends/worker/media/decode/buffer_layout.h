// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "ipc/frame_geometry.h"

extern "C" {
#include <libavutil/pixfmt.h>
}

namespace bulkhead::worker::decode {

// The properties of a decoder's request for a buffer on which the layout of the
// buffer depends.
struct BufferShape {
  AVPixelFormat format = AV_PIX_FMT_NONE;
  int32_t width = 0;
  int32_t height = 0;
  uint32_t alignment = 0;
  uint32_t padding = 0;
  bool operator==(const BufferShape&) const = default;
};

// The places of the planes of a picture in private memory.
struct BufferLayout {
  uint32_t planes = 0;
  int strides[4] = {};
  size_t offsets[4] = {};
  size_t sizes[4] = {};
  size_t alignment = 0;  // of the memory
  size_t bytes = 0;      // a multiple of `alignment`
};

// Returns the layout of a buffer, or nullopt if the picture is too large.
// Widens the picture to the columns of a slot, and further until the strides of
// all planes are aligned. Aligning each stride by itself would change the ratio
// between luma and chroma strides, which some decoders rely on.
std::optional<BufferLayout> LayOut(const BufferShape& shape);

// Returns whether a decoder may use a slot with `geometry` for this shape. The
// strides of a slot must equal the strides of private memory, since both may be
// used in turn: some decoders use the stride of the current picture for its
// reference pictures, too. Pictures of RGB24 refer to no others.
bool FitsSlot(const BufferShape& shape, const ipc::FrameGeometry& geometry);

}  // namespace bulkhead::worker::decode
