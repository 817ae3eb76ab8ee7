// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "backends/sdk/bulkhead_backend.h"
#include "backends/worker/media/convert/picture.h"
#include "backends/worker/media/convert/picture_scaler.h"
#include "backends/worker/media/decode/frame_check.h"
#include "backends/worker/media/demux/orientation.h"
#include "ipc/error.h"

namespace bulkhead::worker::convert {

// Converts decoded pictures to RGB24 (or RGB48), with the exact output of
//
//     ffmpeg -i F -map 0:v:0 -pix_fmt rgb24 -fps_mode passthrough
//
// of FFmpeg 5.1 on this machine:
//   - Frames are turned upright by the frame's display matrix, or by the
//     stream's if the frame has none.
//   - The colour matrix, range and chroma positions are those that ffmpeg's
//     scale filter sets.
//   - Every frame is scaled, bicubically, to the size of the first one. Without
//     `autoscale`, as with ffmpeg's -noautoscale, frames keep their own sizes.
//
//     RgbConverter converter(demuxer.display_matrix_untrusted(), max_pixels,
//                            /*autoscale=*/true);
//     auto size = converter.Prepare(*frame);      // picks the slot's geometry
//     converter.Convert(*frame, slot, stride);
//
// Pictures come from vendor code that has decoded hostile media, so sizes and
// planes are checked before use. Fails with kResourceExhausted above the limit
// on pixels, with kUnsupported for a format that swscale cannot read, and with
// kBackendMisbehaved for a picture with contradictory fields. After a failure
// the next frame may succeed.
//
// Used by one thread.
class RgbConverter {
 public:
  // `stream_matrix_untrusted` is null or points to nine numbers, which are
  // copied. A `max_pixels` of 0 means no limit.
  RgbConverter(const int32_t* stream_matrix_untrusted, uint64_t max_pixels,
               bool autoscale);

  RgbConverter(const RgbConverter&) = delete;
  RgbConverter& operator=(const RgbConverter&) = delete;
  ~RgbConverter();

  // Sets the format of every result: RGB24 (the default) or RGB48. Call this
  // before the first conversion.
  void set_format(AVPixelFormat format) { format_ = format; }

  // Sets the size of results, which the host knows from an earlier worker that
  // has seen the stream's first frame.
  void FixSize(PictureSize size) { size_ = size; }

  // Checks the frame and returns the size of its RGB picture. With autoscale,
  // all results have the size of the first frame that was prepared.
  ipc::Expected<PictureSize> Prepare(const bulkhead_frame& frame);

  // Converts the frame prepared last into `target`, in rows of `stride` bytes
  // in the layout of ipc::RgbGeometry. May also write the padding after a row.
  ipc::Expected<void> Convert(const bulkhead_frame& frame, uint8_t* target,
                              uint32_t stride);

  // Returns the number of bits per component of the frame prepared last.
  int component_bits() const;

  // Returns whether the frame prepared last needs no conversion.
  bool IsDeliverable() const;

 private:
  // The properties of a frame. If one of them changes, the ffmpeg command
  // rebuilds its filters.
  struct Key {
    AVPixelFormat format = AV_PIX_FMT_NONE;
    int width = 0;
    int height = 0;
    std::optional<std::array<int32_t, 9>> matrix;
    bool operator==(const Key&) const = default;
  };

  const std::optional<std::array<int32_t, 9>> stream_matrix_;

  AVPixelFormat format_ = AV_PIX_FMT_RGB24;  // the format of results
  const bool autoscale_;
  std::optional<PictureSize> size_;  // the size of results
  Key key_;
  demux::Orientation orientation_;
  decode::FrameCheck check_;
  PictureScaler scaler_;
  ScratchPicture scratch_;
};

}  // namespace bulkhead::worker::convert
