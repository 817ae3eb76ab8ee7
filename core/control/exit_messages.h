// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/control/input_position.h"
#include "core/include/bulkhead/exit_report.h"
#include "ipc/schema/control.capnp.h"

namespace bulkhead {

// Functions that translate between values and messages about the ends of
// workers and positions in the input. The application and bulkheadd exchange
// these messages and trust each other. The functions are pure.

InputPosition ToPosition(ipc::schema::InputPosition::Reader position);
void Write(const InputPosition& position,
           ipc::schema::InputPosition::Builder out);

// Convert a report without the members backend, device and position, which the
// other side knows.
ExitReport ToExitReport(ipc::schema::ExitReport::Reader report);
void Write(const ExitReport& report, ipc::schema::ExitReport::Builder out);

PoisonedPosition ToPoisoned(ipc::schema::PoisonedPosition::Reader poisoned);
void Write(const PoisonedPosition& poisoned,
           ipc::schema::PoisonedPosition::Builder out);

}  // namespace bulkhead
