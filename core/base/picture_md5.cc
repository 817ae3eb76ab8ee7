// SPDX-License-Identifier: Apache-2.0
#include "core/base/picture_md5.h"

#include <md5.h>

namespace bulkhead {

std::string PictureMd5(const std::byte* pixels, uint32_t rows, size_t row_bytes,
                       size_t stride) {
  MD5_CTX context;
  MD5Init(&context);
  for (uint32_t y = 0; y < rows; ++y) {
    MD5Update(&context, reinterpret_cast<const uint8_t*>(pixels + y * stride),
              row_bytes);
  }
  uint8_t digest[MD5_DIGEST_LENGTH];
  MD5Final(digest, &context);
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const uint8_t byte : digest) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

}  // namespace bulkhead
