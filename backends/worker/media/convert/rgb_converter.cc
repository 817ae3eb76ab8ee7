// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/convert/rgb_converter.h"

#include <algorithm>
#include <utility>

extern "C" {
#include <libavutil/pixdesc.h>
}

#include "ipc/try.h"

namespace bulkhead::worker::convert {
namespace {

std::optional<std::array<int32_t, 9>> CopyMatrix(const int32_t* matrix) {
  if (matrix == nullptr) return std::nullopt;
  std::array<int32_t, 9> copy;
  std::copy_n(matrix, copy.size(), copy.begin());
  return copy;
}

tl::unexpected<ipc::Error> ShortOfMemory() {
  return ipc::Fail(ipc::Code::kResourceExhausted,
                   "no memory to convert a picture");
}

}  // namespace

RgbConverter::RgbConverter(const int32_t* stream_matrix_untrusted,
                           uint64_t max_pixels, bool autoscale)
    : stream_matrix_(CopyMatrix(stream_matrix_untrusted)),
      autoscale_(autoscale),
      check_(max_pixels) {}

RgbConverter::~RgbConverter() = default;

ipc::Expected<PictureSize> RgbConverter::Prepare(const bulkhead_frame& frame) {
  IPC_ASSIGN_OR_RETURN(const auto format, check_.Check(frame));
  const Key key{
      format, frame.width, frame.height,
      CopyMatrix(frame.has_display_matrix ? frame.display_matrix : nullptr)};
  if (key != key_) {
    key_ = key;
    scaler_.Reset();
    const auto& matrix = key_.matrix ? key_.matrix : stream_matrix_;
    orientation_ =
        demux::OrientationFromDisplayMatrix(matrix ? matrix->data() : nullptr);
    if (!autoscale_) size_.reset();
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
  // These turns need a copy of the picture. A vertical flip needs only a view.
  const bool copies = orientation_.transpose || orientation_.flip_horizontally;

  if (copies && !CanTurn(orientation_, key_.format)) {
    // Converts to RGB first, then turns.
    const Picture* rgb = orientation_.transpose
                             ? scratch_.Get(format_, height, width)
                             : scratch_.Get(format_, width, height);
    if (rgb == nullptr) return ShortOfMemory();
    IPC_TRY(scaler_.Scale(frame, picture, *rgb));
    TurnPicture(orientation_.flip_vertically ? FlippedVertically(*rgb) : *rgb,
                orientation_, result);
    return {};
  }

  if (copies) {
    // Turns first, then converts to RGB.
    const Picture* turned =
        orientation_.transpose
            ? scratch_.Get(picture.format, picture.height, picture.width)
            : scratch_.Get(picture.format, picture.width, picture.height);
    if (turned == nullptr) return ShortOfMemory();
    TurnPicture(picture, orientation_, *turned);
    picture = *turned;
  }
  if (orientation_.flip_vertically) picture = FlippedVertically(picture);
  return scaler_.Scale(frame, picture, result);
}

}  // namespace bulkhead::worker::convert
