// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/sdk/bulkhead_backend.h"

namespace bulkhead::worker::zygote {

// Runs the probe, the short-lived worker that asks the backend for its devices
// and sends one DeviceList over `socket`. Returns the exit code of the process.
// The probe is a process of its own, because many device drivers do not survive
// a clone of the process that has used them; the zygote must therefore never
// touch a device.
int RunProbe(const bulkhead_backend& backend, int socket);

}  // namespace bulkhead::worker::zygote
