// SPDX-License-Identifier: Apache-2.0
#include "core/application/writers/rawvideo_writer.h"

#include <cstddef>
#include <span>

namespace bulkhead::writers {

Status RawvideoWriter::WriteFrame(const Picture& picture) {
  if (!picture.native() && picture.stride == picture.row_bytes()) {
    return output().Write({picture.pixels, picture.bytes()});
  }
  return picture.ForEachRow(
      [this](std::span<const std::byte> row) { return output().Write(row); });
}

}  // namespace bulkhead::writers
