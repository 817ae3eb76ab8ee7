// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <capnp/message.h>

#include <span>

#include "core/include/bulkhead/status.h"
#include "core/supervisor/sockets/event_socket.h"
#include "ipc/schema/control.capnp.h"

namespace bulkhead::supervisor {

// Answers to the application or an operator. One that does not take its answer
// has given up on it: no failure is told, and the connection is closed.

void SetFailure(ipc::schema::HostReply::Builder reply, const Status& status);

// In a packet, or in a memfd if it is too large for one.
void Send(EventSocket& connection, capnp::MessageBuilder& message,
          std::span<const int> descriptors = {});
void Fail(EventSocket& connection, const Status& status);
// `configured`, or the failure.
void Acknowledge(EventSocket& connection, const Status& status);

}  // namespace bulkhead::supervisor
