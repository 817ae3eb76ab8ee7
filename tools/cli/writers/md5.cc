// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/writers/md5.h"

#include "core/base/picture_md5.h"

namespace bulkhead::cli {

std::string Md5(const Picture& picture) {
  return PictureMd5(picture.pixels, picture.height, picture.row_bytes(),
                    picture.stride);
}

}  // namespace bulkhead::cli
