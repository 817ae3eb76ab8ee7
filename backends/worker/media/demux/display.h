// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backends/sdk/bulkhead_backend.h"
#include "backends/worker/media/demux/orientation.h"

struct AVStream;

namespace bulkhead::worker::demux {

// The size, orientation and aspect of displayed pictures, as the header of a
// video stream declares them.
struct Display {
  // The size after rotation; 0 where only the bitstream declares the size.
  uint32_t width = 0;
  uint32_t height = 0;
  Orientation orientation;
  bulkhead_rational sample_aspect_ratio{};  // of the pixels after rotation
};

// Returns how the pictures of a video stream are displayed.
Display DisplayOf(const AVStream& stream);

// Returns the nine numbers of the stream's display matrix, or null if the
// stream has none.
const int32_t* DisplayMatrixOf(const AVStream& stream);

}  // namespace bulkhead::worker::demux
