// SPDX-License-Identifier: Apache-2.0
#include "backends/sdk/bulkhead_backend.h"

extern "C" {
const bulkhead_backend* function_that_nobody_has();

const bulkhead_backend* entry() { return function_that_nobody_has(); }
}
