// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/include/bulkhead/event.h"
#include "ipc/schema/control.capnp.h"

namespace bulkhead {

// Translates between events and the messages of bulkheadd, which is trusted.
// Pure functions.

// Writes an event, except for host_pid and lost.
void Write(const Event& event, ipc::schema::Event::Builder out);

// Reads a list of events of the application `host_pid`. The number of lost
// events in the message goes to the first event.
std::vector<Event> ToEvents(ipc::schema::Events::Reader events, int host_pid);

}  // namespace bulkhead
