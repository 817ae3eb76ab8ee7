// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/writers/rawvideo_writer.h"

namespace bulkhead::cli {

Status RawvideoWriter::WriteFrame(const Picture& picture) {
  if (picture.stride == picture.row_bytes()) {
    return output().Write({picture.pixels, picture.bytes()});
  }
  for (uint32_t y = 0; y < picture.height; ++y) {
    if (Status status = output().Write(picture.row(y)); !status.ok()) {
      return status;
    }
  }
  return Status();
}

}  // namespace bulkhead::cli
