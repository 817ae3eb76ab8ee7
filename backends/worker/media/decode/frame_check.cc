// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/decode/frame_check.h"

#include <algorithm>
#include <cstdlib>

extern "C" {
#include <libavutil/common.h>
#include <libavutil/imgutils.h>
#include <libavutil/pixdesc.h>
}

#include "backends/worker/media/decode/abi_breach.h"
#include "backends/worker/media/decode/readable_memory.h"
#include "ipc/limit_name.h"

namespace bulkhead::worker::decode {
namespace {

// Returns whether the rows of a plane can be read. That finds most wrong
// pointers, since they lead to addresses without memory.
bool IsReadablePlane(const bulkhead_frame& frame, int plane,
                     const AVPixFmtDescriptor& format, int row_bytes) {
  const bool is_chroma = plane == 1 || plane == 2;
  const int64_t rows = is_chroma
                           ? AV_CEIL_RSHIFT(frame.height, format.log2_chroma_h)
                           : frame.height;
  const int64_t stride = frame.stride[plane];
  // The distance from the first row to the last row, negative if upside down.
  const int64_t others = (rows - 1) * stride;
  const auto first = reinterpret_cast<uintptr_t>(frame.data[plane]) +
                     static_cast<uintptr_t>(std::min<int64_t>(others, 0));
  return IsReadable(reinterpret_cast<const void*>(first),
                    static_cast<size_t>(std::llabs(others) + row_bytes));
}

}  // namespace

ipc::Expected<AVPixelFormat> FrameCheck::Check(const bulkhead_frame& frame) {
  if (frame.pixel_format == nullptr || frame.width <= 0 || frame.height <= 0) {
    return tl::unexpected(BreachOf(
        "receive_frame gave a picture without a size or pixel format",
        "frame-1", "A picture has a width, a height and a pixel format"));
  }
  const std::string size =
      std::to_string(frame.width) + "x" + std::to_string(frame.height);
  const uint64_t pixels =
      static_cast<uint64_t>(frame.width) * static_cast<uint64_t>(frame.height);
  if (max_pixels_ != 0 && pixels > max_pixels_) {
    return ipc::Fail(ipc::Code::kResourceExhausted,
                     "a picture of " + size + " exceeds the limit of " +
                         std::to_string(max_pixels_) + " pixels; raise " +
                         ipc::LimitName("frame_pixels") + " or skip the file");
  }
  if (known_name_ != frame.pixel_format) {
    known_name_ = frame.pixel_format;
    known_format_ = av_get_pix_fmt(frame.pixel_format);
  }
  const AVPixFmtDescriptor* descriptor = av_pix_fmt_desc_get(known_format_);
  if (descriptor == nullptr) {
    return tl::unexpected(
        BreachOf("receive_frame gave a picture in the format " + known_name_,
                 "frame-1", "a pixel format that FFmpeg knows"));
  }
  if ((descriptor->flags & AV_PIX_FMT_FLAG_HWACCEL) != 0) {
    return ipc::Fail(ipc::Code::kUnsupported,
                     "the decoder returned a picture in the format " +
                         known_name_ + ", which cannot be converted");
  }
  int least_strides[4] = {};
  av_image_fill_linesizes(least_strides, known_format_, frame.width);
  const bool has_palette = (descriptor->flags & AV_PIX_FMT_FLAG_PAL) != 0;
  const int planes = has_palette ? 2 : av_pix_fmt_count_planes(known_format_);
  const std::string picture =
      "receive_frame gave a " + known_name_ + " picture of " + size + " with ";
  const auto given = static_cast<int>(
      std::min<uint32_t>(frame.plane_count, BULKHEAD_MAX_PLANES));
  for (int i = 0; i < planes; ++i) {
    if (i >= given || frame.data[i] == nullptr) {
      return tl::unexpected(
          BreachOf(picture + std::to_string(i) + " of its " +
                       std::to_string(planes) + " planes",
                   "frame-2", "at least the planes of the pixel format"));
    }
    const bool is_palette = has_palette && i == 1;
    if (!is_palette &&
        std::llabs(int64_t{frame.stride[i]}) < least_strides[i]) {
      return tl::unexpected(BreachOf(
          picture + "a stride of " + std::to_string(frame.stride[i]) +
              " for rows of " + std::to_string(least_strides[i]) + " bytes",
          "frame-3", "not less than the bytes of a row"));
    }
    // BufferProvider::Holds has checked planes in a buffer of the runtime.
    if (frame.buffer == nullptr && !is_palette &&
        !IsReadablePlane(frame, i, *descriptor, least_strides[i])) {
      return tl::unexpected(BreachOf(
          picture + "plane " + std::to_string(i) +
              " in memory that cannot be read",
          "frame-4", "or in memory of the backend, with `buffer` NULL"));
    }
  }
  return known_format_;
}

}  // namespace bulkhead::worker::decode
