// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tools/cli/writers/picture.h"

namespace bulkhead::cli {

// MD5 of the rows without the spare bytes between them, in hexadecimal: what
// FFmpeg's framemd5 says of the same picture as packed RGB24.
std::string Md5(const Picture& picture);

}  // namespace bulkhead::cli
