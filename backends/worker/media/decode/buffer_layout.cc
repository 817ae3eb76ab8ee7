// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/decode/buffer_layout.h"

#include <algorithm>

#include "ipc/pixel_layout.h"

extern "C" {
#include <libavutil/imgutils.h>
#include <libavutil/pixdesc.h>
}

namespace bulkhead::worker::decode {
namespace {

// Vector code may read this far past a plane, whatever padding the decoder has
// asked for.
constexpr size_t kOverread = 64;
constexpr size_t kLeastAlignment = 64;

size_t AlignUp(size_t value, size_t alignment) {
  return (value + alignment - 1) & ~(alignment - 1);
}

}  // namespace

std::optional<BufferLayout> LayOut(const BufferShape& shape) {
  BufferLayout layout;
  const auto known = ipc::FindPixelLayout(av_get_pix_fmt_name(shape.format));
  int64_t wide = known ? static_cast<int64_t>(ipc::NativeColumns(
                             *known, static_cast<uint32_t>(shape.width)))
                       : shape.width;
  bool aligned = false;
  while (!aligned) {
    if (wide > INT32_MAX / 16 ||
        av_image_fill_linesizes(layout.strides, shape.format,
                                static_cast<int>(wide)) < 0) {
      return std::nullopt;
    }
    const int64_t lowest_bit = wide & ~(wide - 1);
    wide += lowest_bit;  // the next width to try: a multiple of 2 * lowest_bit
    aligned = true;
    for (int stride : layout.strides) {
      aligned &= static_cast<uint32_t>(stride) % shape.alignment == 0;
    }
  }
  ptrdiff_t strides[4];
  std::copy(std::begin(layout.strides), std::end(layout.strides), strides);
  if (av_image_fill_plane_sizes(layout.sizes, shape.format, shape.height,
                                strides) < 0) {
    return std::nullopt;
  }
  layout.alignment = std::max<size_t>(shape.alignment, kLeastAlignment);
  for (int plane = 0; plane < 4 && layout.sizes[plane] != 0; ++plane) {
    layout.planes = static_cast<uint32_t>(plane) + 1;
    layout.offsets[plane] = layout.bytes;
    layout.sizes[plane] += shape.padding;
    layout.bytes += AlignUp(layout.sizes[plane] + kOverread, layout.alignment);
  }
  return layout;
}

bool FitsSlot(const BufferShape& shape, const ipc::FrameGeometry& geometry) {
  const auto own = LayOut(shape);
  int least[4] = {};
  ptrdiff_t strides[4] = {};
  size_t sizes[4] = {};
  for (uint32_t i = 0; i < geometry.plane_count; ++i) {
    strides[i] = geometry.planes[i].stride;
  }
  if (!own || av_image_fill_linesizes(least, shape.format, shape.width) < 0 ||
      av_image_fill_plane_sizes(sizes, shape.format, shape.height, strides) <
          0) {
    return false;
  }
  for (uint32_t i = 0; i < geometry.plane_count; ++i) {
    const ipc::PlaneGeometry& plane = geometry.planes[i];
    if (least[i] > strides[i] || plane.stride % shape.alignment != 0 ||
        plane.offset % shape.alignment != 0 ||
        sizes[i] + shape.padding > plane.bytes ||
        (shape.format != AV_PIX_FMT_RGB24 && own->strides[i] != strides[i])) {
      return false;
    }
  }
  return true;
}

}  // namespace bulkhead::worker::decode
