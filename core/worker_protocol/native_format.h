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

// The pixel format of native frames, and where their planes lie. Immutable; the
// session and every Frame own it together.
//
// Trust: a worker states name and size. The name must be listed, and all
// the rest is computed from both by the host, so no number of the worker says
// where a plane is.
struct NativeFormat {
  std::string pixel_format;
  ipc::PixelLayout layout;
  ipc::FrameGeometry geometry;

  // Returns kBackendMisbehaved for a format that is not listed, and
  // kResourceExhausted above the limit on pixels.
  static Result<std::shared_ptr<const NativeFormat>> Create(
      const std::string& name_untrusted, uint32_t width, uint32_t height,
      uint64_t max_pixels);
  // Returns the same format with neither padding nor gaps.
  std::shared_ptr<const NativeFormat> Packed() const;

  // Returns plane `i` of a picture that begins at `slot`; requires
  // i < geometry.plane_count.
  Plane PlaneAt(const std::byte* slot, size_t i) const;
  // Copies a picture that begins at `slot` into the layout of Packed().
  std::vector<std::byte> Pack(const std::byte* slot) const;
};

}  // namespace bulkhead::worker_protocol
