// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "backends/sdk/bulkhead_backend.h"

namespace bulkhead::openreg {

// The samples of one frame as the device holds them: its planes one after the
// other. `frame` says how many there are and of what; its planes are read by
// PackPlanes alone.

size_t PackedBytes(const bulkhead_frame& frame);

void PackPlanes(const bulkhead_frame& frame, uint8_t* packed);

// Host memory for bulkhead_frame.planes: the pointers, and behind them a copy
// of what they point to.
std::unique_ptr<uint8_t[]> UnpackPlanes(const bulkhead_frame& frame,
                                        const uint8_t* packed);

}  // namespace bulkhead::openreg
