// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/convert/output_converter.h"

#include <utility>

#include "ipc/try.h"

namespace bulkhead::worker::convert {
namespace {

constexpr int kMostBitsOfBytes = 8;

void DivideRow(const uint16_t* from, size_t elements, float* to) {
  for (size_t i = 0; i < elements; ++i) {
    to[i] = static_cast<float>(from[i]) / 65535.0f;
  }
}

void StoreFloats(const Picture& picture, uint8_t* target, uint32_t stride) {
  for (int y = 0; y < picture.height; ++y) {
    DivideRow(
        reinterpret_cast<const uint16_t*>(
            picture.data[0] + static_cast<ptrdiff_t>(y) * picture.stride[0]),
        static_cast<size_t>(picture.width) * 3,
        reinterpret_cast<float*>(target +
                                 size_t{stride} * static_cast<size_t>(y)));
  }
}

}  // namespace

OutputConverter::OutputConverter(const int32_t* stream_matrix_untrusted,
                                 uint64_t max_pixels, OutputFormat format)
    : native_(std::move(format.native)),
      rgb_(stream_matrix_untrusted, max_pixels, format.autoscale),
      planes_(max_pixels, format.autoscale),
      max_pixels_(max_pixels),
      wanted_element_(format.element),
      transforms_(std::move(format.transforms)) {}

ipc::ElementType OutputConverter::ElementByDepth() const {
  return rgb_.component_bits() > kMostBitsOfBytes ? ipc::ElementType::kFloat32
                                                  : ipc::ElementType::kUint8;
}

ipc::Expected<OutputShape> OutputConverter::SetShape(PictureSize upright) {
  // Frames of one stream have one element type, whatever their depths.
  const auto element = shape_            ? shape_->element
                       : wanted_element_ ? *wanted_element_
                                         : ElementByDepth();
  IPC_ASSIGN_OR_RETURN(const auto size, transforms_.Fit(upright, max_pixels_));
  IPC_ASSIGN_OR_RETURN(
      const auto geometry,
      ipc::RgbGeometry(size.width, size.height, max_pixels_, element));
  rgb_.set_format(element == ipc::ElementType::kFloat32 ? AV_PIX_FMT_RGB48
                                                        : AV_PIX_FMT_RGB24);
  upright_size_ = upright;
  shape_ = OutputShape{size, element, {}, {}, geometry};
  return *shape_;
}

ipc::Expected<OutputShape> OutputConverter::SetNativeShape(
    const NativeConverter::Shape& shape) {
  IPC_ASSIGN_OR_RETURN(const auto geometry,
                       ipc::NativeGeometry(shape.layout, shape.size.width,
                                           shape.size.height, max_pixels_));
  upright_size_ = shape.size;
  shape_ = OutputShape{shape.size, ipc::ElementType::kUint8, shape.pixel_format,
                       shape.layout, geometry};
  return *shape_;
}

ipc::Expected<OutputShape> OutputConverter::FixSize(PictureSize size) {
  if (native_) {
    IPC_ASSIGN_OR_RETURN(const auto shape,
                         planes_.Fix(native_->known_format, size));
    return SetNativeShape(shape);
  }
  rgb_.FixSize(size);
  return SetShape(size);
}

ipc::Expected<OutputShape> OutputConverter::Prepare(
    const bulkhead_frame& frame) {
  if (native_) {
    IPC_ASSIGN_OR_RETURN(const auto shape, planes_.Prepare(frame));
    if (shape_ && shape_->size == shape.size &&
        shape_->pixel_format == shape.pixel_format) {
      return *shape_;
    }
    return SetNativeShape(shape);
  }
  IPC_ASSIGN_OR_RETURN(const auto upright, rgb_.Prepare(frame));
  if (shape_ && upright_size_ == upright) return *shape_;
  return SetShape(upright);
}

bool OutputConverter::IsDeliverable() const {
  if (native_) return native_->in_place && planes_.IsDeliverable();
  return transforms_.empty() && shape_->element == ipc::ElementType::kUint8 &&
         rgb_.IsDeliverable();
}

AVPixelFormat OutputConverter::slot_format() const {
  if (!native_) return AV_PIX_FMT_RGB24;
  return native_->in_place ? planes_.format() : AV_PIX_FMT_NONE;
}

ipc::Expected<void> OutputConverter::Convert(
    const bulkhead_frame& frame, uint8_t* slot,
    const ipc::FrameGeometry& geometry) {
  return native_ ? planes_.Convert(frame, slot, geometry)
                 : ConvertToRgb(frame, slot, geometry.stride);
}

ipc::Expected<void> OutputConverter::ConvertToRgb(const bulkhead_frame& frame,
                                                  uint8_t* target,
                                                  uint32_t stride) {
  const bool floats = shape_->element == ipc::ElementType::kFloat32;
  if (!floats && transforms_.empty()) {
    return rgb_.Convert(frame, target, stride);
  }
  // Transforms and floats need the whole upright picture first, in a scratch
  // picture, since swscale may write a little past its rows.
  const Picture* upright =
      scratch_.Get(floats ? AV_PIX_FMT_RGB48 : AV_PIX_FMT_RGB24,
                   static_cast<int>(upright_size_.width),
                   static_cast<int>(upright_size_.height));
  if (upright == nullptr) {
    return ipc::Fail(ipc::Code::kResourceExhausted,
                     "no memory to convert a picture");
  }
  IPC_TRY(rgb_.Convert(frame, upright->data[0],
                       static_cast<uint32_t>(upright->stride[0])));
  IPC_ASSIGN_OR_RETURN(const auto picture, transforms_.Apply(*upright));
  if (floats) {
    StoreFloats(picture, target, stride);
  } else {
    CopyRows(picture, target, static_cast<ptrdiff_t>(stride));
  }
  return {};
}

}  // namespace bulkhead::worker::convert
