// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sha2.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace bulkhead::discovery {

// The hashes that RECORD may use: SHA-256 and what is at least as strong.
enum class HashAlgorithm : uint8_t { kSha256, kSha384, kSha512 };

// The spelling of RECORD ("sha256"); nothing for md5, sha1 and the unknown.
std::optional<HashAlgorithm> HashAlgorithmNamed(std::string_view name);

// A hash of bytes that come in pieces. Not thread-safe.
class Digest {
 public:
  explicit Digest(HashAlgorithm algorithm);

  void Append(std::span<const char> bytes);
  // As RECORD writes it: base64 for URLs, without padding. Ends the object.
  std::string Finish();

 private:
  HashAlgorithm algorithm_;
  SHA2_CTX context_;
};

}  // namespace bulkhead::discovery
