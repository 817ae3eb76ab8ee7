// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/sdk/bulkhead_backend.h"

// Returns the function table of a simulated accelerator with two devices named
// "openreg". The backend has the properties of a real accelerator: streams,
// device memory that the CPU cannot touch, explicit copies, a device that runs
// full. Its pictures equal the CPU backend's.
//
// The backend is an example for vendors: it is built from the SDK's header and
// its own libraries, and shares no code with the runtime.
extern "C" const bulkhead_backend* bulkhead_openreg_backend(void);
