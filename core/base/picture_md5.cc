// SPDX-License-Identifier: Apache-2.0
#include "core/base/picture_md5.h"

#include <md5.h>

namespace bulkhead {

std::string PictureMd5(const std::byte* pixels, uint32_t rows, size_t row_bytes,
                       size_t stride) {
  const PlaneRows plane = {pixels, rows, row_bytes, stride};
  return PictureMd5({&plane, 1});
}

std::string PictureMd5(std::span<const PlaneRows> planes) {
  MD5_CTX context;
  MD5Init(&context);
  for (const PlaneRows& plane : planes) {
    for (uint32_t y = 0; y < plane.rows; ++y) {
      const std::byte* const row = plane.pixels + y * plane.stride;
      MD5Update(&context, reinterpret_cast<const uint8_t*>(row),
                plane.row_bytes);
    }
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
