// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace bulkhead::ipc {

constexpr size_t kMostPlanes = 4;         // of a pixel format
constexpr uint32_t kPaletteColors = 256;  // of pal8

// The elements of one plane of a picture. A row of the plane is a sequence of
// elements, and an element is a sequence of samples: one sample in a plane of
// luma, two in a plane of interleaved chroma (nv12), four for two pixels of
// packed 4:2:2 (yuyv422), one byte for eight pixels of one bit (monob).
struct PlaneLayout {
  uint8_t log2_width = 0;    // an element covers 2^log2_width columns
  uint8_t log2_height = 0;   // and 2^log2_height rows of the picture
  uint8_t samples = 0;       // in an element
  uint8_t sample_bytes = 0;  // the bytes of one sample
};

// The layout of the planes of a pixel format in memory.
//
// Host and worker each look a format up by its name, and the host accepts only
// listed formats. So a hostile worker can name a layout, but cannot describe
// one of its own.
struct PixelLayout {
  uint32_t plane_count = 0;
  std::array<PlaneLayout, kMostPlanes> planes = {};
  bool palette = false;     // plane 1 is one row of kPaletteColors elements
  bool floats = false;      // samples are IEEE 754 numbers
  bool big_endian = false;  // the order of the bytes of a sample
};

// Returns the layout of the format that FFmpeg calls `name` ("yuv420p10le").
// Returns nullopt if there is no such format, or if its pictures lie in the
// memory of a device.
std::optional<PixelLayout> FindPixelLayout(std::string_view name);

}  // namespace bulkhead::ipc
