// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/application/writers/picture.h"

namespace bulkhead::writers {

// Returns the MD5 of the rows of the picture, without their padding, in
// hexadecimal. FFmpeg's framemd5 prints the same MD5 if it gets the picture as
// packed RGB24, or native planes in their own pixel format.
std::string Md5(const Picture& picture);

// Returns the MD5 of the picture as packed RGB48, as framemd5 prints it: the
// floats of `picture` are multiplied by 65535. Requires Dtype::kFloat32.
std::string Md5As16Bits(const Picture& picture);

}  // namespace bulkhead::writers
