// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <capnp/message.h>
#include <kj/timer.h>

#include <span>

#include "core/include/bulkhead/status.h"
#include "core/supervisor/sockets/event_socket.h"
#include "ipc/schema/control.capnp.h"
#include "ipc/unique_fd.h"

namespace bulkhead::supervisor {

// Send answers to the application or to an operator. If a peer does not read
// its answer, the connection is closed; the caller gets no error.

void SetFailure(ipc::schema::HostReply::Builder reply, const Status& status);

// Sends the message in a packet, or in a memfd if it is too large for a packet.
void Send(EventSocket& connection, capnp::MessageBuilder& message,
          std::span<const int> descriptors = {});
// Sends a reply with a descriptor. While other programs of the user have too
// many descriptors in flight, tries again, until `end`; then replies with that
// failure. Resolves with whether the reply was sent. `connection` must outlive
// the promise.
kj::Promise<bool> SendDescriptor(EventSocket& connection, kj::Timer& timer,
                                 kj::TimePoint end,
                                 kj::Own<capnp::MessageBuilder> message,
                                 ipc::UniqueFd descriptor);
void Fail(EventSocket& connection, const Status& status);
// Answers `configured` if `status` is OK, otherwise the failure.
void Acknowledge(EventSocket& connection, const Status& status);

}  // namespace bulkhead::supervisor
