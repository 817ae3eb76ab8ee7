// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/writers/picture.h"

namespace bulkhead::cli {

const char* NameOf(Dtype dtype) {
  return dtype == Dtype::kFloat32 ? "float32" : "uint8";
}

Picture PictureOf(const Frame& frame) {
  Picture picture;
  picture.pixels = frame.height() == 0 ? nullptr : frame.row(0).data();
  picture.width = frame.width();
  picture.height = frame.height();
  picture.stride = frame.stride();
  picture.dtype = frame.dtype();
  picture.index = frame.index();
  picture.pts = frame.pts();
  picture.duration = frame.duration();
  return picture;
}

}  // namespace bulkhead::cli
