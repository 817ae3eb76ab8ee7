// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sha2.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace bulkhead {

// The hash algorithms that RECORD, a package's list of its files, may use:
// SHA-256 and stronger ones.
enum class HashAlgorithm : uint8_t { kSha256, kSha384, kSha512 };

// Returns the algorithm that RECORD calls `name` ("sha256"); nullopt for md5,
// sha1 and unknown names.
std::optional<HashAlgorithm> HashAlgorithmNamed(std::string_view name);

// Computes the hash of bytes that the caller appends piece by piece. Not
// thread-safe.
class Digest {
 public:
  explicit Digest(HashAlgorithm algorithm);

  void Append(std::span<const char> bytes);
  // Returns the hash as RECORD writes it: URL-safe base64 without padding. Call
  // it once, at the end.
  std::string Finish();

 private:
  HashAlgorithm algorithm_;
  SHA2_CTX context_;
};

}  // namespace bulkhead
