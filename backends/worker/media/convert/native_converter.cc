// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/convert/native_converter.h"

extern "C" {
#include <libavutil/pixdesc.h>
}

#include "ipc/try.h"

namespace bulkhead::worker::convert {

ipc::Expected<NativeConverter::Shape> NativeConverter::Fix(
    const std::string& pixel_format, PictureSize size) {
  const auto layout = ipc::FindPixelLayout(pixel_format);
  if (!layout) {
    return ipc::Fail(ipc::Code::kUnsupported,
                     "pictures in the format " + pixel_format +
                         " cannot be delivered as they are; ask for RGB "
                         "(OutputFormat::kRgb)");
  }
  result_ = {av_get_pix_fmt(pixel_format.c_str()), static_cast<int>(size.width),
             static_cast<int>(size.height)};
  shape_ = {size, pixel_format, *layout};
  return *shape_;
}

ipc::Expected<NativeConverter::Shape> NativeConverter::Prepare(
    const bulkhead_frame& frame) {
  IPC_ASSIGN_OR_RETURN(const auto format, check_.Check(frame));
  const Form source{format, frame.width, frame.height};
  if (source != source_) {
    source_ = source;
    scaler_.Reset();
    if (!autoscale_) shape_.reset();
  }
  if (shape_) return *shape_;
  return Fix(av_get_pix_fmt_name(format),
             {static_cast<uint32_t>(frame.width),
              static_cast<uint32_t>(frame.height)});
}

ipc::Expected<void> NativeConverter::Convert(
    const bulkhead_frame& frame, uint8_t* slot,
    const ipc::FrameGeometry& geometry) {
  Picture target{result_.format, result_.width, result_.height, {}, {}};
  for (uint32_t i = 0; i < geometry.plane_count; ++i) {
    target.data[i] = slot + geometry.planes[i].offset;
    target.stride[i] = static_cast<int>(geometry.planes[i].stride);
  }
  return scaler_.Scale(frame, PictureOf(frame, source_.format), target);
}

}  // namespace bulkhead::worker::convert
