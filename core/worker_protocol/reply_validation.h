// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/include/bulkhead/host.h"
#include "core/include/bulkhead/status.h"
#include "ipc/message_socket.h"
#include "ipc/schema/session.capnp.h"
#include "ipc/schema/types.capnp.h"

namespace bulkhead::session {

// Checks the first message of a worker: an error unless the worker speaks this
// version of the protocol.
Status ValidateHello(ipc::ReceivedMessage& hello_untrusted);

// What a worker says about the file, checked before anybody sees it: sizes
// within the limits, ratios with sane denominators, texts short and printable.
// An error means that the worker broke the protocol. The readers must be over
// private memory; call inside ipc::ReadCatching.
Result<VideoMetadata> ValidateOpened(
    ipc::schema::Opened::Reader opened_untrusted, const Limits& limits);

// The Status that a worker gave as an answer. A worker may blame the input, the
// request or its own means, but not claim what only we can know (that it died,
// was late, or lied); such a claim is an error of the outer Result.
struct ClaimedFailure {
  Status status;
};
Result<ClaimedFailure> ValidateFailure(
    ipc::schema::Failure::Reader failure_untrusted);

}  // namespace bulkhead::session
