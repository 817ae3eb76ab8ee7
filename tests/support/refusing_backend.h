// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/sdk/bulkhead_backend.h"

namespace bulkhead::tests {

// Returns the table of a backend that decodes nothing. Its `open` must fail;
// `last_error` tells the test what the backend found.
bulkhead_backend RefusingBackend(
    const char* name,
    decltype(bulkhead_backend::enumerate_devices) enumerate_devices,
    decltype(bulkhead_backend::open) open,
    decltype(bulkhead_backend::last_error) last_error);

}  // namespace bulkhead::tests
