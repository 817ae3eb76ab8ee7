// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/rgb_converter.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

extern "C" {
#include <libavutil/imgutils.h>
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>
#include <libswscale/swscale.h>
}

#include "backends/worker/media/abi_breach.h"
#include "backends/worker/media/readable_memory.h"
#include "ipc/limit_name.h"
#include "ipc/try.h"

namespace bulkhead::worker {
namespace {

std::optional<std::array<int32_t, 9>> CopyMatrix(const int32_t* matrix) {
  if (matrix == nullptr) return std::nullopt;
  std::array<int32_t, 9> copy;
  std::copy_n(matrix, copy.size(), copy.begin());
  return copy;
}

// Returns swscale's coefficients. swscale knows the matrices up to BT.2020, and
// ffmpeg treats all others like BT.601.
const int* MatrixOf(int color_space) {
  if (color_space < 1 || color_space > 10 || color_space == AVCOL_SPC_YCGCO) {
    color_space = AVCOL_SPC_BT470BG;
  }
  return sws_getCoefficients(color_space);
}

Picture PictureOf(const bulkhead_frame& frame, AVPixelFormat format) {
  Picture picture{format, frame.width, frame.height, {}, {}};
  std::copy_n(frame.data, 4, picture.data);
  std::copy_n(frame.stride, 4, picture.stride);
  return picture;
}

tl::unexpected<ipc::Error> ShortOfMemory() {
  return ipc::Fail(ipc::Code::kResourceExhausted,
                   "no memory to convert a picture");
}

// Returns whether the rows of a plane can be read. A wrong pointer is likely to
// lead to no memory at all.
bool IsReadablePlane(const bulkhead_frame& frame, int plane,
                     const AVPixFmtDescriptor& format, int row_bytes) {
  const bool is_chroma = plane == 1 || plane == 2;
  const int64_t rows = is_chroma
                           ? AV_CEIL_RSHIFT(frame.height, format.log2_chroma_h)
                           : frame.height;
  const int64_t stride = frame.stride[plane];
  const int64_t others = (rows - 1) * stride;
  const auto first = reinterpret_cast<uintptr_t>(frame.data[plane]) +
                     static_cast<uintptr_t>(std::min<int64_t>(others, 0));
  return IsReadable(reinterpret_cast<const void*>(first),
                    static_cast<size_t>(std::llabs(others) + row_bytes));
}

}  // namespace

RgbConverter::RgbConverter(const int32_t* stream_matrix_untrusted,
                           uint64_t max_pixels)
    : stream_matrix_(CopyMatrix(stream_matrix_untrusted)),
      max_pixels_(max_pixels) {}

RgbConverter::~RgbConverter() = default;

ipc::Expected<RgbConverter::Key> RgbConverter::ValidateFrame(
    const bulkhead_frame& frame) {
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
    // What lies in a buffer of the runtime was checked already.
    if (frame.buffer == nullptr && !is_palette &&
        !IsReadablePlane(frame, i, *descriptor, least_strides[i])) {
      return tl::unexpected(BreachOf(
          picture + "plane " + std::to_string(i) +
              " in memory that cannot be read",
          "frame-4", "or in memory of the backend, with `buffer` NULL"));
    }
  }
  return Key{
      known_format_, frame.width, frame.height,
      CopyMatrix(frame.has_display_matrix ? frame.display_matrix : nullptr)};
}

ipc::Expected<PictureSize> RgbConverter::Prepare(const bulkhead_frame& frame) {
  IPC_ASSIGN_OR_RETURN(const auto key, ValidateFrame(frame));
  if (key != key_) {
    key_ = key;
    scaler_.reset();
    scaler_range_ = AVCOL_RANGE_UNSPECIFIED;
    const auto& matrix = key_.matrix ? key_.matrix : stream_matrix_;
    orientation_ =
        OrientationFromDisplayMatrix(matrix ? matrix->data() : nullptr);
  }
  if (!size_) {
    size_ = {static_cast<uint32_t>(frame.width),
             static_cast<uint32_t>(frame.height)};
    if (orientation_.transpose) std::swap(size_->width, size_->height);
  }
  return *size_;
}

int RgbConverter::component_bits() const {
  return av_pix_fmt_desc_get(key_.format)->comp[0].depth;
}

bool RgbConverter::IsDeliverable() const {
  return key_.format == format_ && orientation_.IsIdentity() &&
         size_ == PictureSize{static_cast<uint32_t>(key_.width),
                              static_cast<uint32_t>(key_.height)};
}

ipc::Expected<void> RgbConverter::Convert(const bulkhead_frame& frame,
                                          uint8_t* target, uint32_t stride) {
  const int width = static_cast<int>(size_->width);
  const int height = static_cast<int>(size_->height);
  const Picture result = {
      format_, width, height, {target}, {static_cast<int>(stride)}};
  Picture picture = PictureOf(frame, key_.format);
  const bool copies = orientation_.transpose || orientation_.flip_horizontally;

  if (copies && !CanTurn(orientation_, key_.format)) {
    const Picture* rgb = orientation_.transpose
                             ? scratch_.Get(format_, height, width)
                             : scratch_.Get(format_, width, height);
    if (rgb == nullptr) return ShortOfMemory();
    IPC_TRY(Scale(frame, picture, *rgb));
    TurnPicture(orientation_.flip_vertically ? FlippedVertically(*rgb) : *rgb,
                orientation_, result);
    return {};
  }

  if (copies) {
    const Picture* turned =
        orientation_.transpose
            ? scratch_.Get(picture.format, picture.height, picture.width)
            : scratch_.Get(picture.format, picture.width, picture.height);
    if (turned == nullptr) return ShortOfMemory();
    TurnPicture(picture, orientation_, *turned);
    picture = *turned;
  }
  if (orientation_.flip_vertically) picture = FlippedVertically(picture);
  return Scale(frame, picture, result);
}

ipc::Expected<void> RgbConverter::MakeScaler(const Picture& source,
                                             const Picture& target,
                                             int color_range) {
  scaler_ = AllocateScaler(source, target, SWS_BICUBIC);
  if (scaler_ == nullptr) return ShortOfMemory();
  SwsContext* context = scaler_.get();
  if (color_range != AVCOL_RANGE_UNSPECIFIED) {
    av_opt_set_int(context, "src_range", color_range == AVCOL_RANGE_JPEG, 0);
  }
  // ffmpeg's scale filter sets the chroma position of this format alone, to
  // half way between two rows of luma. It ignores the position that the stream
  // declares, and so must this code.
  if (source.format == AV_PIX_FMT_YUV420P) {
    av_opt_set_int(context, "src_v_chr_pos", 128, 0);
  }
  if (sws_init_context(context, nullptr, nullptr) < 0) {
    scaler_.reset();
    // Its result is -1 for a lack of memory as well.
    if (sws_isSupportedInput(source.format) > 0) {
      return ShortOfMemory();
    }
    return ipc::Fail(ipc::Code::kUnsupported,
                     std::string("a picture in the format ") + known_name_ +
                         " cannot be converted to RGB");
  }
  return {};
}

ipc::Expected<void> RgbConverter::Scale(const bulkhead_frame& frame,
                                        const Picture& source,
                                        const Picture& target) {
  if (source.format == target.format && source.width == target.width &&
      source.height == target.height) {
    CopyRows(source, target.data[0], target.stride[0]);
    return {};
  }
  const int range = frame.color_range;
  const bool range_changed =
      range != AVCOL_RANGE_UNSPECIFIED && range != scaler_range_;
  if (scaler_ == nullptr || range_changed) {
    if (range_changed) scaler_range_ = range;
    IPC_TRY(MakeScaler(source, target, scaler_range_));
  }

  int* unused_table;
  int source_range, target_range, brightness, contrast, saturation;
  sws_getColorspaceDetails(scaler_.get(), &unused_table, &source_range,
                           &unused_table, &target_range, &brightness, &contrast,
                           &saturation);
  if (range != AVCOL_RANGE_UNSPECIFIED)
    source_range = range == AVCOL_RANGE_JPEG;
  const int* matrix = MatrixOf(frame.color_space);
  sws_setColorspaceDetails(scaler_.get(), matrix, source_range, matrix,
                           target_range, brightness, contrast, saturation);
  if (sws_scale(scaler_.get(), source.data, source.stride, 0, source.height,
                target.data, target.stride) < 0) {
    return ipc::Fail(ipc::Code::kBadInput, "a picture failed to convert");
  }
  return {};
}

}  // namespace bulkhead::worker
