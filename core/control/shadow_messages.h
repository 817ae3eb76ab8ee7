// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/include/bulkhead/shadow.h"
#include "ipc/schema/control.capnp.h"

namespace bulkhead {

// Write and read the report about the shadows of a backend, which bulkheadd
// sends.
void Write(const ShadowReport& report, ipc::schema::ShadowReport::Builder out);
ShadowReport ToShadowReport(ipc::schema::ShadowReport::Reader report);

}  // namespace bulkhead
