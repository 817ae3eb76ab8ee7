// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/sdk/bulkhead_backend.h"

// A simulated accelerator with two devices named "openreg". It exercises
// whatever a real one would: streams, device memory that the CPU cannot touch,
// explicit copies, a device that runs full. Its pictures equal the CPU's.
// It shows how an out-of-tree backend looks: it is built from the SDK's header
// and its own libraries and shares no code with the runtime.
extern "C" const bulkhead_backend* bulkhead_openreg_backend(void);
