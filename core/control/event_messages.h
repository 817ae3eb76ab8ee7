// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/include/bulkhead/event.h"
#include "ipc/schema/control.capnp.h"

namespace bulkhead {

// Events between values and the messages of bulkheadd, which is trusted. Pure.

// Without host_pid and lost.
void Write(const Event& event, ipc::schema::Event::Builder out);

// `lost` is that of the first.
std::vector<Event> ToEvents(ipc::schema::Events::Reader events, int host_pid);

}  // namespace bulkhead
