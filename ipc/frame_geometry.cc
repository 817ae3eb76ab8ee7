// SPDX-License-Identifier: Apache-2.0
#include "ipc/frame_geometry.h"

#include <algorithm>
#include <string>

#include "ipc/limit_name.h"
#include "ipc/try.h"

namespace bulkhead::ipc {
namespace {

constexpr uint64_t kSpareBytes = 64;
constexpr uint64_t kPageBytes = 4096;
constexpr uint64_t kStrideAlignment = 64;
// The number of bytes after the last row of a plane that decoders may read or
// write.
constexpr uint64_t kPlaneSpareBytes = 256;
// The rows that decoders write: libavcodec's decoders of interlaced video write
// pairs of blocks, some write two rows more, and libdav1d writes blocks of 128
// pixels.
constexpr uint64_t kBlockRows = 32;
constexpr uint64_t kRowsBehindBlocks = 2;
constexpr uint64_t kLargeBlock = 128;
constexpr uint64_t kLeastColumns = 32;

constexpr uint64_t AlignUp(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

std::string Size(uint32_t width, uint32_t height) {
  return std::to_string(width) + "x" + std::to_string(height);
}

constexpr uint64_t CeilShift(uint64_t value, uint8_t bits) {
  return (value + (uint64_t{1} << bits) - 1) >> bits;
}

Expected<void> CheckSize(uint32_t width, uint32_t height) {
  if (width > 0 && height > 0) return {};
  return Fail(Code::kBadInput, "a picture of " + Size(width, height) +
                                   " pixels holds nothing to decode");
}

// Checks the limit on pixels, and that stride and height fit an int, the type
// of the colour converters' parameters.
Expected<void> CheckLimits(uint32_t width, uint32_t height, uint64_t stride,
                           uint64_t max_pixels) {
  if (uint64_t{width} * height <= max_pixels && stride <= INT32_MAX &&
      height <= INT32_MAX) {
    return {};
  }
  return Fail(Code::kResourceExhausted, "a picture of " + Size(width, height) +
                                            " pixels is above the limit of " +
                                            std::to_string(max_pixels) +
                                            " pixels; raise " +
                                            LimitName("frame_pixels"));
}

}  // namespace

Expected<FrameGeometry> RgbGeometry(uint32_t width, uint32_t height,
                                    uint64_t max_pixels, ElementType type) {
  IPC_TRY(CheckSize(width, height));
  // No sum or product here overflows 64 bits: the stride is below 2^36, and
  // CheckLimits has found it below 2^31 before it is multiplied with the
  // height.
  const uint64_t stride = AlignUp(BytesPerPixel(type) * AlignUp(width, 16), 64);
  IPC_TRY(CheckLimits(width, height, stride, max_pixels));
  const uint64_t bytes = AlignUp(stride * height + kSpareBytes, kPageBytes);
  return FrameGeometry{.width = width,
                       .height = height,
                       .stride = static_cast<uint32_t>(stride),
                       .bytes = bytes,
                       .plane_count = 1,
                       .planes = {{{.offset = 0,
                                    .stride = static_cast<uint32_t>(stride),
                                    .row_bytes = BytesPerPixel(type) * width,
                                    .rows = height,
                                    .bytes = bytes}}}};
}

uint64_t NativeColumns(const PixelLayout& layout, uint32_t width) {
  // Columns are rounded up so far that the stride of a subsampled plane is a
  // multiple of the alignment, too.
  uint64_t block = kLargeBlock;
  for (const PlaneLayout& plane : layout.planes) {
    block = std::max(block, kStrideAlignment << plane.log2_width);
  }
  return AlignUp(std::max<uint64_t>(width, kLeastColumns), block);
}

Expected<FrameGeometry> NativeGeometry(const PixelLayout& layout,
                                       uint32_t width, uint32_t height,
                                       uint64_t max_pixels) {
  IPC_TRY(CheckSize(width, height));
  // Has room for the blocks of every decoder.
  const uint64_t rows =
      std::max(AlignUp(height, kBlockRows) + kRowsBehindBlocks,
               AlignUp(height, kLargeBlock));
  FrameGeometry geometry{.width = width,
                         .height = height,
                         .stride = 0,
                         .bytes = 0,
                         .plane_count = layout.plane_count,
                         .planes = {}};
  const uint64_t columns = NativeColumns(layout, width);
  // As in RgbGeometry, no sum or product overflows: an element has at most 16
  // bytes.
  for (uint32_t i = 0; i < layout.plane_count; ++i) {
    const PlaneLayout& plane = layout.planes[i];
    const bool palette = layout.palette && i == 1;
    const uint64_t element = uint64_t{plane.samples} * plane.sample_bytes;
    const uint64_t stride =
        AlignUp(element * (palette ? kPaletteColors
                                   : CeilShift(columns, plane.log2_width)),
                kStrideAlignment);
    IPC_TRY(CheckLimits(width, height, stride, max_pixels));
    PlaneGeometry& out = geometry.planes[i];
    out.offset = geometry.bytes;
    out.stride = static_cast<uint32_t>(stride);
    out.row_bytes = static_cast<uint32_t>(
        element *
        (palette ? kPaletteColors : CeilShift(width, plane.log2_width)));
    out.rows =
        palette ? 1
                : static_cast<uint32_t>(CeilShift(height, plane.log2_height));
    out.bytes =
        AlignUp(stride * (palette ? 1 : CeilShift(rows, plane.log2_height)) +
                    kPlaneSpareBytes,
                kStrideAlignment);
    geometry.bytes += out.bytes;
  }
  geometry.stride = geometry.planes[0].stride;
  geometry.bytes = AlignUp(geometry.bytes, kPageBytes);
  return geometry;
}

Expected<void> ValidatePublished(uint32_t width_untrusted,
                                 uint32_t height_untrusted,
                                 uint32_t stride_untrusted, uint64_t slot_bytes,
                                 ElementType type) {
  // Neither product overflows, since both factors have 32 bits.
  if (width_untrusted == 0 || height_untrusted == 0 ||
      stride_untrusted < uint64_t{BytesPerPixel(type)} * width_untrusted ||
      (type == ElementType::kFloat32 && stride_untrusted % 4 != 0) ||
      uint64_t{stride_untrusted} * height_untrusted > slot_bytes) {
    return Fail(Code::kBackendMisbehaved,
                "the worker published a picture of " +
                    Size(width_untrusted, height_untrusted) +
                    " pixels with rows of " + std::to_string(stride_untrusted) +
                    " bytes, which does not lie in its slot of " +
                    std::to_string(slot_bytes));
  }
  return {};
}

}  // namespace bulkhead::ipc
