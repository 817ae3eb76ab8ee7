// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backends/sdk/bulkhead_backend.h"
#include "ipc/error.h"

namespace bulkhead::worker::decode {

// A range of versions of the C ABI, both ends included.
struct AbiRange {
  uint32_t oldest;
  uint32_t newest;
};

inline constexpr AbiRange kServedAbi{BULKHEAD_ABI_MIN_VERSION,
                                     BULKHEAD_ABI_VERSION};

// Checks a backend's function table: whether it is complete, and whether the
// backend and this worker share a version of the ABI. Reads only the fields
// within the table's `size`. Fails with kBackendUnavailable.
ipc::Expected<void> ValidateBackend(const bulkhead_backend* backend,
                                    AbiRange served = kServedAbi);

// Returns the newest version of the ABI that the backend and this worker share;
// 0 if there is none.
uint32_t VersionInForce(const bulkhead_backend& backend,
                        AbiRange served = kServedAbi);

}  // namespace bulkhead::worker::decode
