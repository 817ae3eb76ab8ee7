// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "backends/worker/media/orientation.h"

extern "C" {
#include <libavutil/pixfmt.h>
}

namespace bulkhead::worker {

struct PictureSize {
  uint32_t width = 0;
  uint32_t height = 0;
  bool operator==(const PictureSize&) const = default;
};

// A picture in borrowed memory. A negative stride is a picture upside down.
struct Picture {
  AVPixelFormat format = AV_PIX_FMT_NONE;
  int width = 0;
  int height = 0;
  uint8_t* data[4] = {};
  int stride[4] = {};
};

// Whether pictures of this format can be turned as they are. The others are
// turned after their conversion to RGB, as ffmpeg's filters do it too: the
// order shows in the pixels, since chroma is interpolated in the direction of
// rows.
bool CanTurn(const Orientation& orientation, AVPixelFormat format);

// Turns `source` into `*target`, whose format, planes and strides are set and
// whose size is the turned one. Vertical flips are not done here: they are a
// negative stride of the source (FlippedVertically).
void TurnPicture(const Picture& source, const Orientation& orientation,
                 const Picture& target);

// The same memory, read from its last row upwards.
Picture FlippedVertically(const Picture& picture);

// The rows of a picture of one plane into other memory.
void CopyRows(const Picture& source, uint8_t* target, ptrdiff_t target_stride);

// Memory for one picture, reused while its shape stays.
class ScratchPicture {
 public:
  // Null when memory is short. Valid until the next call.
  const Picture* Get(AVPixelFormat format, int width, int height);

 private:
  struct AvFree {
    void operator()(uint8_t* memory) const;
  };
  Picture picture_;
  std::unique_ptr<uint8_t, AvFree> memory_;
};

}  // namespace bulkhead::worker
