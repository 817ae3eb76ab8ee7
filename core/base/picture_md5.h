// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace bulkhead {

// Returns the MD5 of a picture's rows, without the padding between them, in
// hexadecimal. For RGB24, it equals the output of FFmpeg's framemd5. `stride`
// is the number of bytes from one row to the next.
//
// The second form hashes the planes of a picture, one after the other, as
// framemd5 does for other pixel formats.
//
// Meant for finding faults, not forgeries: MD5 is broken, and an attacker can
// make two pictures with the same MD5.
std::string PictureMd5(const std::byte* pixels, uint32_t rows, size_t row_bytes,
                       size_t stride);
// One plane of a picture: `rows` rows of `row_bytes` bytes, `stride` bytes
// apart.
struct PlaneRows {
  const std::byte* pixels;
  uint32_t rows;
  size_t row_bytes;
  size_t stride;
};
std::string PictureMd5(std::span<const PlaneRows> planes);

}  // namespace bulkhead
