// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backends/sdk/bulkhead_backend.h"
#include "backends/worker/media/demux/orientation.h"

struct AVStream;

namespace bulkhead::worker {

// The way to display the pictures of a video stream, as the header of the
// stream describes it.
struct Display {
  // The size after rotation; 0 where only the bitstream declares the size.
  uint32_t width = 0;
  uint32_t height = 0;
  Orientation orientation;
  bulkhead_rational sample_aspect_ratio{};  // aspect after rotation
};

Display DisplayOf(const AVStream& stream);

// Returns the nine numbers of the stream's display matrix, or null if the
// stream has none.
const int32_t* DisplayMatrixOf(const AVStream& stream);

}  // namespace bulkhead::worker
