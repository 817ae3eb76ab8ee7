// SPDX-License-Identifier: Apache-2.0
#include "core/worker_protocol/native_format.h"

#include <cstring>
#include <utility>

#include "core/base/from_ipc.h"
#include "core/base/status_macros.h"

namespace bulkhead::worker_protocol {
namespace {

SampleType TypeOf(const ipc::PixelLayout& layout, size_t plane) {
  switch (layout.planes[plane].sample_bytes) {
    case 1:
      return SampleType::kUint8;
    case 2:
      return SampleType::kUint16;
    default:
      return layout.floats ? SampleType::kFloat32 : SampleType::kUint32;
  }
}

}  // namespace

Result<std::shared_ptr<const NativeFormat>> NativeFormat::Create(
    const std::string& name_untrusted, uint32_t width, uint32_t height,
    uint64_t max_pixels) {
  const auto layout = ipc::FindPixelLayout(name_untrusted);
  if (!layout) {
    return Status(Code::kBackendMisbehaved,
                  "it reported frames of no known pixel format");
  }
  ASSIGN_OR_RETURN(
      const ipc::FrameGeometry geometry,
      FromIpc(ipc::NativeGeometry(*layout, width, height, max_pixels)));
  return std::make_shared<const NativeFormat>(
      NativeFormat{name_untrusted, *layout, geometry});
}

std::shared_ptr<const NativeFormat> NativeFormat::Packed() const {
  NativeFormat packed = *this;
  packed.geometry.bytes = 0;
  for (size_t i = 0; i < geometry.plane_count; ++i) {
    ipc::PlaneGeometry& plane = packed.geometry.planes[i];
    plane.offset = packed.geometry.bytes;
    plane.stride = plane.row_bytes;
    plane.bytes = uint64_t{plane.row_bytes} * plane.rows;
    packed.geometry.bytes += plane.bytes;
  }
  packed.geometry.stride = packed.geometry.planes[0].stride;
  return std::make_shared<const NativeFormat>(std::move(packed));
}

Plane NativeFormat::PlaneAt(const std::byte* slot, size_t i) const {
  const ipc::PlaneGeometry& place = geometry.planes[i];
  const ipc::PlaneLayout& element = layout.planes[i];
  return {.data = slot + place.offset,
          .stride = place.stride,
          .width = place.row_bytes /
                   (uint32_t{element.samples} * element.sample_bytes),
          .height = place.rows,
          .samples = element.samples,
          .type = TypeOf(layout, i),
          .big_endian = layout.big_endian};
}

std::vector<std::byte> NativeFormat::Pack(const std::byte* slot) const {
  const auto packed = Packed();
  std::vector<std::byte> own(packed->geometry.bytes);
  for (size_t i = 0; i < geometry.plane_count; ++i) {
    const ipc::PlaneGeometry& from = geometry.planes[i];
    std::byte* const to = own.data() + packed->geometry.planes[i].offset;
    for (uint32_t y = 0; y < from.rows; ++y) {
      std::memcpy(to + size_t{y} * from.row_bytes,
                  slot + from.offset + size_t{y} * from.stride, from.row_bytes);
    }
  }
  return own;
}

}  // namespace bulkhead::worker_protocol
