// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backends/sdk/bulkhead_backend.h"
#include "backends/worker/media/orientation.h"

struct AVStream;

namespace bulkhead::worker {

// How the pictures of a video stream are shown, as far as its header tells.
struct Display {
  uint32_t width = 0;  // after rotation; 0 where only the bitstream tells
  uint32_t height = 0;
  Orientation orientation;
  bulkhead_rational sample_aspect_ratio{};  // of the rotated picture
};

Display DisplayOf(const AVStream& stream);

// Of the stream's display matrix, nine numbers; null if there is none.
const int32_t* DisplayMatrixOf(const AVStream& stream);

}  // namespace bulkhead::worker
