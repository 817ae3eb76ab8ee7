// SPDX-License-Identifier: Apache-2.0
#include "ipc/frame_geometry.h"

#include <string>

#include "ipc/limit_name.h"

namespace bulkhead::ipc {
namespace {

constexpr uint64_t kSpareBytes = 64;
constexpr uint64_t kPageBytes = 4096;

constexpr uint64_t AlignUp(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

std::string Size(uint32_t width, uint32_t height) {
  return std::to_string(width) + "x" + std::to_string(height);
}

}  // namespace

Expected<FrameGeometry> RgbGeometry(uint32_t width, uint32_t height,
                                    uint64_t max_pixels, ElementType type) {
  if (width == 0 || height == 0) {
    return Fail(Code::kBadInput, "a picture of " + Size(width, height) +
                                     " pixels holds nothing to decode");
  }
  // No sum or product here overflows 64 bits: the stride is below 2^36, and
  // below 2^31 by the time it is multiplied with the height.
  const uint64_t stride = AlignUp(BytesPerPixel(type) * AlignUp(width, 16), 64);
  // The colour converters take stride and height as int.
  if (uint64_t{width} * height > max_pixels || stride > INT32_MAX ||
      height > INT32_MAX) {
    return Fail(Code::kResourceExhausted,
                "a picture of " + Size(width, height) +
                    " pixels is above the limit of " +
                    std::to_string(max_pixels) + " pixels; raise " +
                    LimitName("frame_pixels"));
  }
  return FrameGeometry{width, height, static_cast<uint32_t>(stride),
                       AlignUp(stride * height + kSpareBytes, kPageBytes)};
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
