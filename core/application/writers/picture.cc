// SPDX-License-Identifier: Apache-2.0
#include "core/application/writers/picture.h"

namespace bulkhead::writers {

const char* NameOf(Dtype dtype) {
  return dtype == Dtype::kFloat32 ? "float32" : "uint8";
}

uint64_t Picture::bytes() const {
  if (!native()) return uint64_t{row_bytes()} * height;
  uint64_t bytes = 0;
  for (const Plane& plane : planes) {
    bytes += uint64_t{plane.row_bytes()} * plane.height;
  }
  return bytes;
}

Picture PictureOf(const Frame& frame) {
  Picture picture;
  picture.width = frame.width();
  picture.height = frame.height();
  if (frame.format() == OutputFormat::kNative) {
    picture.planes = frame.planes();
    picture.color = frame.color();
    picture.field_order = frame.field_order();
  } else {
    picture.pixels = frame.height() == 0 ? nullptr : frame.row(0).data();
    picture.stride = frame.stride();
    picture.dtype = frame.dtype();
  }
  picture.index = frame.index();
  picture.pts = frame.pts();
  picture.duration = frame.duration();
  return picture;
}

}  // namespace bulkhead::writers
