// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace bulkhead::tests {

// Small files that make a decoder use much memory, written byte by byte. Each
// function writes a file with a name of its own into `directory` and returns
// the path, or an empty string on failure.

// Writes grey pictures of one byte per pixel, as YUV4MPEG2.
std::string WriteGreyFrames(const std::string& directory, uint32_t width,
                            uint32_t height, uint32_t frames);

// Writes a BMP of one colour. Its run-length coded pixels end at once, so the
// file has little more than a kilobyte.
std::string WriteFlatBmp(const std::string& directory, uint32_t width,
                         uint32_t height);

// A Matroska file with one raw grey picture in a block of `block_bytes`. The
// file holds as many bytes of the block as the picture has pixels; the rest is
// a hole in the sparse file. `subtitles` is the number of further streams,
// which have no packets.
struct MatroskaBomb {
  uint32_t width = 16;
  uint32_t height = 16;
  uint64_t block_bytes = 16 * 16;
  uint32_t subtitles = 0;
};
std::string WriteMatroska(const std::string& directory,
                          const MatroskaBomb& bomb);

}  // namespace bulkhead::tests
