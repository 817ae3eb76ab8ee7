// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <capnp/message.h>

#include <span>

#include "core/include/bulkhead/status.h"
#include "core/supervisor/sockets/event_socket.h"
#include "ipc/schema/control.capnp.h"

namespace bulkhead::sockets {

// Functions that answer the application or an operator. They do not wait: if
// the peer reads too slowly for the answer to fit into the socket, they close
// the connection and report no error.

// Writes a failure into a reply.
void SetFailure(ipc::schema::HostReply::Builder reply, const Status& status);

// Sends the message in a packet, or in a memfd if it is too large for a packet.
void Send(EventSocket& connection, capnp::MessageBuilder& message,
          std::span<const int> descriptors = {});
// Answers with a failure.
void Fail(EventSocket& connection, const Status& status);
// Answers `configured`, a reply without contents, if `status` is OK. Answers
// the failure if it is not.
void Acknowledge(EventSocket& connection, const Status& status);

}  // namespace bulkhead::sockets
