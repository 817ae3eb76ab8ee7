// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "backends/sdk/bulkhead_backend.h"
#include "backends/worker/media/orientation.h"
#include "backends/worker/media/picture.h"
#include "ipc/error.h"

struct SwsContext;

namespace bulkhead::worker {

// Decoded pictures to RGB24 (or RGB48), bit for bit as
//
//     ffmpeg -i F -map 0:v:0 -pix_fmt rgb24 -fps_mode passthrough
//
// of FFmpeg 5.1 does it on this machine: turned upright by the display matrix
// of the frame, else of the stream; then matrix, range and chroma positions as
// its scale filter sets them; bicubic; every frame as large as the first one.
//
//     RgbConverter converter(demuxer.display_matrix_untrusted(), max_pixels);
//     auto size = converter.Prepare(*frame);      // picks the slot's geometry
//     converter.Convert(*frame, slot, stride);
//
// Pictures come from vendor code that has met hostile media: sizes and planes
// are checked before use. kResourceExhausted above the limit of pixels,
// kUnsupported for a format that swscale cannot read, kBackendMisbehaved for a
// picture that contradicts itself. After a failure the next frame may succeed.
//
// One thread.
class RgbConverter {
 public:
  // `stream_matrix` are nine numbers, or null; copied. 0 pixels: no limit.
  RgbConverter(const int32_t* stream_matrix_untrusted, uint64_t max_pixels);

  RgbConverter(const RgbConverter&) = delete;
  RgbConverter& operator=(const RgbConverter&) = delete;
  ~RgbConverter();

  // Of every result: RGB24, which is the default, or RGB48. Before the first is
  // converted.
  void set_format(AVPixelFormat format) { format_ = format; }

  // Makes this the size of every result, before any frame: that of the
  // stream's first frame, which another converter has seen.
  void FixSize(PictureSize size) { size_ = size; }

  // Checks the frame and returns the size of its RGB picture, which is that of
  // the first frame that was prepared.
  ipc::Expected<PictureSize> Prepare(const bulkhead_frame& frame);

  // Converts the frame prepared last. `target` takes rows of `stride` bytes in
  // the layout of ipc::RgbGeometry, spare bytes included.
  ipc::Expected<void> Convert(const bulkhead_frame& frame, uint8_t* target,
                              uint32_t stride);

  // Bits of a component of the frame prepared last.
  int component_bits() const;

  // Whether the frame prepared last already is the RGB picture.
  bool IsDeliverable() const;

 private:
  // What makes the ffmpeg command build its filters anew.
  struct Key {
    AVPixelFormat format = AV_PIX_FMT_NONE;
    int width = 0;
    int height = 0;
    std::optional<std::array<int32_t, 9>> matrix;
    bool operator==(const Key&) const = default;
  };
  struct FreeSws {
    void operator()(SwsContext* context) const;
  };

  ipc::Expected<Key> ValidateFrame(const bulkhead_frame& frame);
  ipc::Expected<void> Scale(const bulkhead_frame& frame, const Picture& source,
                            const Picture& target);
  ipc::Expected<void> MakeScaler(const Picture& source, const Picture& target,
                                 int color_range);

  const std::optional<std::array<int32_t, 9>> stream_matrix_;
  const uint64_t max_pixels_;

  AVPixelFormat format_ = AV_PIX_FMT_RGB24;  // of every result
  std::optional<PictureSize> size_;          // of every result
  Key key_;
  Orientation orientation_;
  std::string known_name_;  // of known_format_, to look it up once
  AVPixelFormat known_format_ = AV_PIX_FMT_NONE;
  std::unique_ptr<SwsContext, FreeSws> scaler_;
  int scaler_range_ = 0;
  ScratchPicture scratch_;
};

}  // namespace bulkhead::worker
