// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tools/cli/writers/picture.h"

namespace bulkhead::cli {

// Returns the MD5 of the rows of the picture, without padding between rows, in
// hexadecimal. Equals the MD5 that FFmpeg's framemd5 prints for the same
// picture as packed RGB24, or for native planes in their own pixel format.
std::string Md5(const Picture& picture);

// Returns the MD5 that framemd5 prints for a picture as packed RGB48 of which
// `picture` has the numbers divided by 65535. Requires Dtype::kFloat32.
std::string Md5As16Bits(const Picture& picture);

}  // namespace bulkhead::cli
