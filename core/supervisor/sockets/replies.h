// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <capnp/message.h>

#include <span>

#include "core/include/bulkhead/status.h"
#include "core/supervisor/sockets/event_socket.h"
#include "ipc/schema/control.capnp.h"
#include "ipc/unique_fd.h"

namespace bulkhead::sockets {

// Send answers to the application or to an operator. If a peer does not read
// its answer, the connection is closed; the caller gets no error.

void SetFailure(ipc::schema::HostReply::Builder reply, const Status& status);

// Sends the message in a packet, or in a memfd if it is too large for a packet.
void Send(EventSocket& connection, capnp::MessageBuilder& message,
          std::span<const int> descriptors = {});
void Fail(EventSocket& connection, const Status& status);
// Answers `configured` if `status` is OK, otherwise the failure.
void Acknowledge(EventSocket& connection, const Status& status);

}  // namespace bulkhead::sockets
