// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "backends/sdk/bulkhead_backend.h"
#include "backends/worker/media/demux/orientation.h"

extern "C" {
#include <libavutil/pixfmt.h>
}

namespace bulkhead::worker::convert {

// A size in pixels.
struct PictureSize {
  uint32_t width = 0;
  uint32_t height = 0;
  bool operator==(const PictureSize&) const = default;
};

// A picture in borrowed memory. A negative stride means that the picture is
// stored upside down, and `data` points to its first row.
struct Picture {
  AVPixelFormat format = AV_PIX_FMT_NONE;
  int width = 0;
  int height = 0;
  uint8_t* data[4] = {};
  int stride[4] = {};
};

// Returns a view of the planes of `frame`, whose pixel format is `format`.
Picture PictureOf(const bulkhead_frame& frame, AVPixelFormat format);

// Returns whether pictures of this format are turned before the conversion to
// RGB (true) or after it (false). The order follows ffmpeg's filters, and is
// visible in the pixels, since chroma is interpolated along rows.
bool CanTurn(const demux::Orientation& orientation, AVPixelFormat format);

// Writes the turned `source` into `target`, whose format, planes, strides and
// (turned) size the caller has set. Ignores flip_vertically: for that, pass the
// result of FlippedVertically as the source.
void TurnPicture(const Picture& source, const demux::Orientation& orientation,
                 const Picture& target);

// Returns a view of the same memory that begins with the last row.
Picture FlippedVertically(const Picture& picture);

// Copies the rows of a picture with one plane to `target`.
void CopyRows(const Picture& source, uint8_t* target, ptrdiff_t target_stride);

// Copies the rows of all planes, and the palette if there is one, to a picture
// of the same format and size.
void CopyPlanes(const Picture& source, const Picture& target);

// Memory for one picture, reused while format and size stay the same.
class ScratchPicture {
 public:
  // Returns the picture, or null when memory is short. Valid until the next
  // call.
  const Picture* Get(AVPixelFormat format, int width, int height);

 private:
  struct AvFree {
    void operator()(uint8_t* memory) const;
  };
  Picture picture_;
  std::unique_ptr<uint8_t, AvFree> memory_;
};

}  // namespace bulkhead::worker::convert
