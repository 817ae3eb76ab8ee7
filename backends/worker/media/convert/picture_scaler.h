// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/sdk/bulkhead_backend.h"
#include "backends/worker/media/convert/picture.h"
#include "backends/worker/media/convert/scaler_context.h"
#include "ipc/error.h"

namespace bulkhead::worker::convert {

// Brings pictures to another pixel format and size with the exact output of the
// scale filter that the ffmpeg command (5.1) puts before its encoder: bicubic,
// with the colour matrix, range and chroma positions that ffmpeg sets. A
// picture that has the format and the size already is copied.
//
// Fails with kUnsupported for a format that swscale cannot read or write, and
// with kResourceExhausted when memory is short. Used by one thread.
class PictureScaler {
 public:
  // Forgets the colour range of earlier pictures. Call this if the format or
  // size of the sources changes, since ffmpeg then rebuilds its filters.
  void Reset();

  // Converts `source`, whose colours `frame` describes, into `target`. swscale
  // may also write the padding after the rows of `target`, and a few bytes
  // after the last row.
  ipc::Expected<void> Scale(const bulkhead_frame& frame, const Picture& source,
                            const Picture& target);

 private:
  ipc::Expected<void> MakeScaler(const Picture& source, const Picture& target,
                                 int color_range);

  SwsContextPtr context_;
  int range_ = AVCOL_RANGE_UNSPECIFIED;  // the last range a frame declared
};

}  // namespace bulkhead::worker::convert
