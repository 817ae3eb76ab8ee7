// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/sdk/bulkhead_backend.h"

namespace bulkhead::tests {

// A backend that decodes nothing: its `open` has to refuse, and `last_error`
// says what there is to say.
bulkhead_backend RefusingBackend(
    const char* name,
    decltype(bulkhead_backend::enumerate_devices) enumerate_devices,
    decltype(bulkhead_backend::open) open,
    decltype(bulkhead_backend::last_error) last_error);

}  // namespace bulkhead::tests
