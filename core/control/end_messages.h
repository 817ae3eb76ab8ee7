// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/control/input_position.h"
#include "core/include/bulkhead/status.h"
#include "ipc/schema/control.capnp.h"

namespace bulkhead {

// What application and bulkheadd tell each other of how a worker ended and
// where, between messages and values. Both are trusted. Pure.

InputPosition ToPosition(ipc::schema::InputPosition::Reader position);
void Write(const InputPosition& position,
           ipc::schema::InputPosition::Builder out);

// Without backend, device and position, which the other side knows.
ExitReport ToExitReport(ipc::schema::ExitReport::Reader report);
void Write(const ExitReport& report, ipc::schema::ExitReport::Builder out);

PoisonedPosition ToPoisoned(ipc::schema::PoisonedPosition::Reader poisoned);
void Write(const PoisonedPosition& poisoned,
           ipc::schema::PoisonedPosition::Builder out);

}  // namespace bulkhead
