// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "ipc/frame_geometry.h"

namespace bulkhead::worker {

// Hashes every 16th row of each plane of a picture in a slot: enough for the
// host to verify that a replay delivers the same frames, at little cost.
uint64_t FingerprintOf(const ipc::FrameGeometry& geometry, const uint8_t* slot);

}  // namespace bulkhead::worker
