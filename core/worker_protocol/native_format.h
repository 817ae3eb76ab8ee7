// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/include/bulkhead/frame.h"
#include "core/include/bulkhead/status.h"
#include "ipc/frame_geometry.h"
#include "ipc/pixel_layout.h"

namespace bulkhead::worker_protocol {

// The pixel format of native frames, and the places of their planes in a slot.
// Immutable; the session and its frames share it.
//
// Trust: a worker states only the format's name and the size. The name must be
// in Bulkhead's list. From name and size, the host itself computes where each
// plane is.
struct NativeFormat {
  std::string pixel_format;
  ipc::PixelLayout layout;
  ipc::FrameGeometry geometry;

  // Returns kBackendMisbehaved if the format is not listed, and
  // kResourceExhausted if the picture has more than `max_pixels` pixels.
  static Result<std::shared_ptr<const NativeFormat>> Create(
      const std::string& name_untrusted, uint32_t width, uint32_t height,
      uint64_t max_pixels);
  // Returns the format of the same picture without padding in or between its
  // planes.
  std::shared_ptr<const NativeFormat> Packed() const;

  // Returns plane `i` of the picture at `slot`. Requires i <
  // geometry.plane_count.
  Plane PlaneAt(const std::byte* slot, size_t i) const;
  // Returns a copy of the picture at `slot`, in the layout of Packed().
  std::vector<std::byte> Pack(const std::byte* slot) const;
};

}  // namespace bulkhead::worker_protocol
