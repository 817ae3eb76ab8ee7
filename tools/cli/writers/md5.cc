// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/writers/md5.h"

#include <fmt/format.h>
#include <md5.h>
#include <sys/types.h>

#include <cstdint>

namespace bulkhead::cli {

std::string Md5(const Picture& picture) {
  MD5_CTX context;
  MD5Init(&context);
  for (uint32_t y = 0; y < picture.height; ++y) {
    const std::span<const std::byte> row = picture.row(y);
    MD5Update(&context, reinterpret_cast<const uint8_t*>(row.data()),
              row.size());
  }
  uint8_t digest[MD5_DIGEST_LENGTH];
  MD5Final(digest, &context);
  std::string text;
  for (uint8_t byte : digest) text += fmt::format("{:02x}", byte);
  return text;
}

}  // namespace bulkhead::cli
