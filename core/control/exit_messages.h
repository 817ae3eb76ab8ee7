// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/control/input_position.h"
#include "core/include/bulkhead/status.h"
#include "ipc/schema/control.capnp.h"

namespace bulkhead {

// Translates between values and messages about how a worker ended and at which
// position. Application and bulkheadd exchange these messages; both are
// trusted. Pure functions.

InputPosition ToPosition(ipc::schema::InputPosition::Reader position);
void Write(const InputPosition& position,
           ipc::schema::InputPosition::Builder out);

// Backend, device and position are not part of the message: the other side
// knows them.
ExitReport ToExitReport(ipc::schema::ExitReport::Reader report);
void Write(const ExitReport& report, ipc::schema::ExitReport::Builder out);

PoisonedPosition ToPoisoned(ipc::schema::PoisonedPosition::Reader poisoned);
void Write(const PoisonedPosition& poisoned,
           ipc::schema::PoisonedPosition::Builder out);

}  // namespace bulkhead
