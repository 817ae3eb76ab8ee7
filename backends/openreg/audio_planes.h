// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "backends/sdk/bulkhead_backend.h"

namespace bulkhead::openreg {

// Functions that pack the samples of an audio frame for the device, which
// stores all planes one after the other. `frame` gives the format, channels and
// count of the samples. Only PackPlanes reads the planes of `frame`.

// Returns the number of bytes of the packed samples.
size_t PackedBytes(const bulkhead_frame& frame);

// Copies the planes of `frame` to `packed`.
void PackPlanes(const bulkhead_frame& frame, uint8_t* packed);

// Returns host memory with the array for bulkhead_frame.planes, followed by a
// copy of the packed samples. The array points into this copy.
std::unique_ptr<uint8_t[]> UnpackPlanes(const bulkhead_frame& frame,
                                        const uint8_t* packed);

}  // namespace bulkhead::openreg
