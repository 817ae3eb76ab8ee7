// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backends/sdk/bulkhead_backend.h"
#include "ipc/error.h"

namespace bulkhead::worker {

// The versions of the C ABI that one side serves, oldest and newest.
struct AbiRange {
  uint32_t oldest;
  uint32_t newest;
};

inline constexpr AbiRange kServedAbi{BULKHEAD_ABI_MIN_VERSION,
                                     BULKHEAD_ABI_VERSION};

// Checks a backend's function table: whether it is complete, and whether there
// is a version of the ABI that the backend and the runtime both serve. Reads
// only the fields within the table's `size`. The failure is
// kBackendUnavailable.
ipc::Expected<void> ValidateBackend(const bulkhead_backend* backend,
                                    AbiRange served = kServedAbi);

// Returns the newest version that the backend and the runtime both serve; 0 if
// there is none.
uint32_t VersionInForce(const bulkhead_backend& backend,
                        AbiRange served = kServedAbi);

}  // namespace bulkhead::worker
