// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/include/bulkhead/reports.h"
#include "ipc/schema/control.capnp.h"

namespace bulkhead::supervisor_link {

// Functions that turn answers of bulkheadd, which is trusted, into the types of
// the public API.

// Appends the backends, diagnostics and places of the answer to `report`.
void AddTo(BackendReport& report, ipc::schema::Backends::Reader backends);

SandboxReport ToReport(ipc::schema::SandboxReport::Reader sandbox);

// Returns the devices of backends that have just been started.
std::vector<DeviceInfo> ToDevices(
    capnp::List<ipc::schema::KnownDevice>::Reader devices);

}  // namespace bulkhead::supervisor_link
