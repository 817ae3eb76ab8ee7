// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace bulkhead {

// Hashes pictures, so that the application and bulkheadd can say whether two
// decoders gave the same picture without keeping or sending its pixels
// (HostOptions::shadow, VideoOptions::on_failure).
//
// Trust: a hostile worker chooses the pixels, and must not be able to choose
// two different pictures with the same hash. So the hash has a key that no
// worker learns. The hash is universal: for any two different pictures, hardly
// any key (about one in 2^50 for a picture of 8K) gives both the same hash.
// Every byte of every row enters the hash.
//
// Runs at the speed of memory. Immutable; any thread may use it.
class PictureHasher {
 public:
  explicit PictureHasher(uint64_t key);
  static PictureHasher WithRandomKey();

  // Returns the hash of a picture. `stride` is the number of bytes from one row
  // to the next. If the pixels change meanwhile, some mixture is hashed.
  uint64_t operator()(const std::byte* pixels, uint32_t width, uint32_t height,
                      size_t row_bytes, size_t stride) const;

 private:
  static constexpr size_t kBlockBytes = 1024;

  std::array<uint64_t, kBlockBytes / sizeof(uint64_t)> block_key_;
  // The blocks' hashes are the coefficients of a polynomial; the picture's hash
  // is the value of the polynomial at this secret point.
  uint64_t point_;
};

}  // namespace bulkhead
