// SPDX-License-Identifier: Apache-2.0
#include "backends/openreg/audio_planes.h"

#include <cstring>

extern "C" {
#include <libavutil/samplefmt.h>
}

namespace bulkhead::openreg {
namespace {

struct Shape {
  size_t planes;
  size_t plane_bytes;
};

Shape ShapeOf(const bulkhead_frame& frame) {
  const AVSampleFormat format = av_get_sample_fmt(frame.sample_format);
  const size_t channels = static_cast<size_t>(frame.channels);
  const size_t plane_bytes =
      static_cast<size_t>(av_get_bytes_per_sample(format)) *
      static_cast<size_t>(frame.sample_count);
  if (av_sample_fmt_is_planar(format)) return {channels, plane_bytes};
  return {1, channels * plane_bytes};
}

}  // namespace

size_t PackedBytes(const bulkhead_frame& frame) {
  const Shape shape = ShapeOf(frame);
  return shape.planes * shape.plane_bytes;
}

void PackPlanes(const bulkhead_frame& frame, uint8_t* packed) {
  const Shape shape = ShapeOf(frame);
  for (size_t plane = 0; plane < shape.planes; ++plane) {
    std::memcpy(packed + plane * shape.plane_bytes, frame.planes[plane],
                shape.plane_bytes);
  }
}

std::unique_ptr<uint8_t[]> UnpackPlanes(const bulkhead_frame& frame,
                                        const uint8_t* packed) {
  const Shape shape = ShapeOf(frame);
  const size_t pointers = shape.planes * sizeof(uint8_t*);
  std::unique_ptr<uint8_t[]> memory(
      new uint8_t[pointers + shape.planes * shape.plane_bytes]);
  auto** planes = reinterpret_cast<uint8_t**>(memory.get());
  for (size_t plane = 0; plane < shape.planes; ++plane) {
    planes[plane] = memory.get() + pointers + plane * shape.plane_bytes;
    std::memcpy(planes[plane], packed + plane * shape.plane_bytes,
                shape.plane_bytes);
  }
  return memory;
}

}  // namespace bulkhead::openreg
