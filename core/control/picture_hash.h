// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace bulkhead {

// Hashes pictures, so that the application and bulkheadd can say whether two
// decoders gave the same one without keeping or sending pixels
// (HostOptions::shadow, VideoOptions::on_failure).
//
// The one who chose the pixels is hostile and must not be able to choose two
// pictures with the same hash. So the hash has a key, which no worker learns,
// and is universal: whatever two different pictures are, hardly any key (about
// one in 2^50 for a picture of 8K) gives both the same hash. Every byte counts.
//
// Runs at the speed of memory. Immutable; any thread.
class PictureHasher {
 public:
  explicit PictureHasher(uint64_t key);
  static PictureHasher WithRandomKey();

  // `stride` is the number of bytes from one row to the next. The pixels may
  // change meanwhile: some mixture is hashed then.
  uint64_t operator()(const std::byte* pixels, uint32_t width, uint32_t height,
                      size_t row_bytes, size_t stride) const;

 private:
  static constexpr size_t kBlockBytes = 1024;

  std::array<uint64_t, kBlockBytes / sizeof(uint64_t)> block_key_;
  uint64_t point_;  // at which the polynomial of the blocks is evaluated
};

}  // namespace bulkhead
