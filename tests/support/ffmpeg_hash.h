// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace bulkhead::tests {

// Computes the hash that `ffmpeg -f framehash -hash murmur3` prints for the
// same bytes: ten times as fast as an MD5, which took most of the time of the
// tests that compare pictures. It is no protection against anybody.
//
//     FfmpegHash hash;
//     for (...) hash.Add(row);
//     EXPECT_EQ(hash.Hex(), line_of_ffmpeg);
class FfmpegHash {
 public:
  void Add(std::span<const std::byte> bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  // Returns the hash of all bytes, in hexadecimal.
  std::string Hex() const;

 private:
  // libavutil's murmur3 gives another hash for the same bytes in several parts
  // where a part has no multiple of 16 bytes, so they are hashed at once.
  std::vector<std::byte> bytes_;
};

}  // namespace bulkhead::tests
