// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>

struct AVHashContext;

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
  FfmpegHash();

  // Adds bytes; where one call ends and the next begins makes no difference.
  void Add(std::span<const std::byte> bytes);

  // Returns the hash of all bytes, in hexadecimal. The last call of an object.
  std::string Hex();

 private:
  // libavutil's murmur3 reads blocks of 16 bytes, and gives another hash where
  // a part of the bytes ends inside of one.
  static constexpr size_t kBlock = 16;

  struct Free {
    void operator()(AVHashContext* context) const;
  };

  std::unique_ptr<AVHashContext, Free> context_;
  std::array<std::byte, kBlock> begun_{};  // the block that is not yet whole
  size_t begun_bytes_ = 0;
};

}  // namespace bulkhead::tests
