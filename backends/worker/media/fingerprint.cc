// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/fingerprint.h"

#include <xxhash.h>

#include <cstddef>

namespace bulkhead::worker {

uint64_t FingerprintOf(const ipc::FrameGeometry& geometry,
                       const uint8_t* slot) {
  constexpr uint32_t kRowStep = 16;
  uint64_t fingerprint = 0;
  for (uint32_t i = 0; i < geometry.plane_count; ++i) {
    const ipc::PlaneGeometry& plane = geometry.planes[i];
    const uint8_t* const rows = slot + plane.offset;
    for (uint32_t y = 0; y < plane.rows; y += kRowStep) {
      fingerprint = XXH3_64bits_withSeed(rows + size_t{y} * plane.stride,
                                         plane.row_bytes, fingerprint);
    }
  }
  return fingerprint;
}

}  // namespace bulkhead::worker
