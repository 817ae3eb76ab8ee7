// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/include/bulkhead/reports.h"
#include "ipc/schema/control.capnp.h"

namespace bulkhead::supervisor_link {

// Functions that convert answers of bulkheadd, which is trusted, to types of
// the public API.

// Appends the answer's backends, diagnostics (warnings and errors about files)
// and places (directories that were searched) to `report`.
void AddTo(BackendReport& report, ipc::schema::Backends::Reader backends);

// Returns the report about the sandbox: its tier, and what it lacks.
SandboxReport ToReport(ipc::schema::SandboxReport::Reader sandbox);

// Returns the devices of backends that have just been started; marks each as
// ready.
std::vector<DeviceInfo> ToDevices(
    capnp::List<ipc::schema::KnownDevice>::Reader devices);

}  // namespace bulkhead::supervisor_link
