// SPDX-License-Identifier: Apache-2.0
#include "core/base/digest.h"

#include <sys/types.h>

#include <cstddef>

namespace bulkhead {
namespace {

std::string Base64Url(std::span<const uint8_t> bytes) {
  constexpr char kDigits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::string text;
  uint32_t pending = 0;
  // The number of bits in `pending` that are not in `text` yet.
  int bits = 0;
  for (const uint8_t byte : bytes) {
    pending = pending << 8 | byte;
    for (bits += 8; bits >= 6; bits -= 6) {
      text += kDigits[pending >> (bits - 6) & 63];
    }
  }
  // The last digit is filled up with zeros.
  if (bits > 0) text += kDigits[pending << (6 - bits) & 63];
  return text;
}

}  // namespace

std::optional<HashAlgorithm> HashAlgorithmNamed(std::string_view name) {
  if (name == "sha256") return HashAlgorithm::kSha256;
  if (name == "sha384") return HashAlgorithm::kSha384;
  if (name == "sha512") return HashAlgorithm::kSha512;
  return std::nullopt;
}

Digest::Digest(HashAlgorithm algorithm) : algorithm_(algorithm) {
  switch (algorithm_) {
    case HashAlgorithm::kSha256:
      SHA256Init(&context_);
      break;
    case HashAlgorithm::kSha384:
      SHA384Init(&context_);
      break;
    case HashAlgorithm::kSha512:
      SHA512Init(&context_);
      break;
  }
}

void Digest::Append(std::span<const char> bytes) {
  const auto* data = reinterpret_cast<const uint8_t*>(bytes.data());
  switch (algorithm_) {
    case HashAlgorithm::kSha256:
      return SHA256Update(&context_, data, bytes.size());
    case HashAlgorithm::kSha384:
      return SHA384Update(&context_, data, bytes.size());
    case HashAlgorithm::kSha512:
      return SHA512Update(&context_, data, bytes.size());
  }
}

std::string Digest::Finish() {
  uint8_t digest[SHA512_DIGEST_LENGTH];
  size_t size = 0;
  switch (algorithm_) {
    case HashAlgorithm::kSha256:
      SHA256Final(digest, &context_);
      size = SHA256_DIGEST_LENGTH;
      break;
    case HashAlgorithm::kSha384:
      SHA384Final(digest, &context_);
      size = SHA384_DIGEST_LENGTH;
      break;
    case HashAlgorithm::kSha512:
      SHA512Final(digest, &context_);
      size = SHA512_DIGEST_LENGTH;
      break;
  }
  return Base64Url(std::span(digest, size));
}

}  // namespace bulkhead
