// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace bulkhead::tests {

// Small files that ask for much, written byte by byte. Each is written into
// `directory` under a name of its own, whose path is returned; empty where it
// cannot be written.

// Grey pictures of one byte a pixel, as YUV4MPEG2.
std::string WriteGreyFrames(const std::string& directory, uint32_t width,
                            uint32_t height, uint32_t frames);

// A BMP of that size, all of one colour: its run-length coded pixels end at
// once, so the file has little more than a kilobyte.
std::string WriteFlatBmp(const std::string& directory, uint32_t width,
                         uint32_t height);

// Matroska with one raw grey picture of that size in a block of `block_bytes`,
// of which the file has as many as the picture has pixels and the rest as a
// hole, and beside it `subtitles` streams without a packet.
struct MatroskaBomb {
  uint32_t width = 16;
  uint32_t height = 16;
  uint64_t block_bytes = 16 * 16;
  uint32_t subtitles = 0;
};
std::string WriteMatroska(const std::string& directory,
                          const MatroskaBomb& bomb);

}  // namespace bulkhead::tests
