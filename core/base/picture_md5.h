// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace bulkhead {

// Returns the MD5 of the rows of a picture, without the padding between rows,
// in hexadecimal. Equals what FFmpeg's framemd5 prints for the same picture as
// packed RGB24. `stride` is the number of bytes from one row to the next.
//
// The second form takes the planes of a picture, one after the other, as
// framemd5 does in other pixel formats.
//
// Finds faults, not forgeries: somebody who chooses both of two pictures can
// choose two of the same MD5.
std::string PictureMd5(const std::byte* pixels, uint32_t rows, size_t row_bytes,
                       size_t stride);
struct PlaneRows {
  const std::byte* pixels;
  uint32_t rows;
  size_t row_bytes;
  size_t stride;
};
std::string PictureMd5(std::span<const PlaneRows> planes);

}  // namespace bulkhead
