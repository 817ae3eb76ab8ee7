// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cpu/cpu_backend.h"
#include "backends/sdk/bulkhead_backend.h"

namespace bulkhead::tests {

// The table of the backend `cpu`. A test's backend copies it and replaces some
// functions, which call the honest ones.
inline const bulkhead_backend& Honest() { return *bulkhead_cpu_backend(); }

// An enumerate_devices that reports one device.
template <const bulkhead_device& kDevice>
bulkhead_result EnumerateOne(const bulkhead_runtime*,
                             void (*emit)(void*, const bulkhead_device*),
                             void* emit_context) {
  emit(emit_context, &kDevice);
  return BULKHEAD_OK;
}

}  // namespace bulkhead::tests
