// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "backends/sdk/bulkhead_backend.h"
#include "backends/worker/media/convert/picture.h"
#include "backends/worker/media/convert/picture_scaler.h"
#include "backends/worker/media/decode/frame_check.h"
#include "ipc/error.h"
#include "ipc/frame_geometry.h"
#include "ipc/pixel_layout.h"

namespace bulkhead::worker::convert {

// Delivers the planes of decoded pictures as they are, with the exact output of
//
//     ffmpeg -noautorotate -i F -map 0:v:0 -fps_mode passthrough -f rawvideo
//
// of FFmpeg 5.1: no picture is turned upright or converted to RGB. As in that
// command, the first picture sets the format and size of all results, and other
// pictures are brought to them (PictureScaler). Without `autoscale` each
// picture keeps its own format and size.
//
// Fails as FrameCheck and PictureScaler do, and with kUnsupported for a pixel
// format without an ipc::PixelLayout. Used by one thread.
class NativeConverter {
 public:
  struct Shape {
    PictureSize size;
    std::string pixel_format;  // the name that FFmpeg gives it
    ipc::PixelLayout layout;
  };

  // A `max_pixels` of 0 means no limit.
  NativeConverter(uint64_t max_pixels, bool autoscale)
      : check_(max_pixels), autoscale_(autoscale) {}

  // Sets the shape of results, which the host knows from an earlier worker that
  // has seen the first frame.
  ipc::Expected<Shape> Fix(const std::string& pixel_format, PictureSize size);

  // Checks the frame and returns the shape of its result.
  ipc::Expected<Shape> Prepare(const bulkhead_frame& frame);

  // Writes the frame prepared last into `slot`, whose layout is `geometry`.
  ipc::Expected<void> Convert(const bulkhead_frame& frame, uint8_t* slot,
                              const ipc::FrameGeometry& geometry);

  // Returns whether the frame prepared last needs no conversion.
  bool IsDeliverable() const { return source_ == result_; }
  // Returns the format of results. Call this after Fix or Prepare.
  AVPixelFormat format() const { return result_.format; }

 private:
  struct Form {
    AVPixelFormat format = AV_PIX_FMT_NONE;
    int width = 0;
    int height = 0;
    bool operator==(const Form&) const = default;
  };

  decode::FrameCheck check_;
  const bool autoscale_;
  PictureScaler scaler_;
  Form source_;  // of the frame prepared last
  Form result_;  // of its result
  std::optional<Shape> shape_;
};

}  // namespace bulkhead::worker::convert
