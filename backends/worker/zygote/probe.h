// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/sdk/bulkhead_backend.h"

namespace bulkhead::worker {

// The probe worker: asks the backend for its devices, sends one DeviceList over
// `socket` and is done. A process of its own, since drivers that were touched
// often do not survive a clone. Returns the exit code.
int RunProbe(const bulkhead_backend& backend, int socket);

}  // namespace bulkhead::worker
