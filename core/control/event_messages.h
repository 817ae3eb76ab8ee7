// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/include/bulkhead/event.h"
#include "ipc/schema/control.capnp.h"

namespace bulkhead {

// Functions that translate between events and messages of bulkheadd, which is
// trusted. They are pure.

// Writes an event, except for host_pid and lost.
void Write(const Event& event, ipc::schema::Event::Builder out);

// Reads a list of events of the application with the pid `host_pid`.
// Event::lost of the first event is the number of lost events in the message.
std::vector<Event> ToEvents(ipc::schema::Events::Reader events, int host_pid);

}  // namespace bulkhead
