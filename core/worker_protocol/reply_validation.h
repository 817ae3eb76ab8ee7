// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <capnp/blob.h>

#include <optional>
#include <string>

#include "core/include/bulkhead/host.h"
#include "core/include/bulkhead/status.h"
#include "ipc/damage_sign.h"
#include "ipc/message_socket.h"
#include "ipc/schema/session.capnp.h"
#include "ipc/schema/types.capnp.h"

namespace bulkhead::worker_protocol {

// Checks the first message of a worker: an error unless the worker speaks this
// version of the protocol. kResourceExhausted, with the worker's words, if it
// is `shared` and refuses the session.
Status ValidateHello(ipc::ReceivedMessage& hello_untrusted, bool shared);

// Checks what a worker says about an opened video stream, before anything else
// sees it: sizes within the limits, ratios with sane denominators, texts short
// and printable. An error means that the worker broke the protocol. The reader
// must be over private memory; call inside ipc::ReadCatching.
Result<VideoMetadata> ValidateOpened(
    ipc::schema::Opened::Reader opened_untrusted, const Limits& limits);

// Checks the failure that a worker answered with. A worker may blame the input,
// the request or its own means. It may not claim what only the host can know,
// that it died, was late or broke the protocol; such a claim is an error of the
// outer Result. The reader must be over private memory; call inside
// ipc::ReadCatching.
struct ClaimedFailure {
  Status status;
};
Result<ClaimedFailure> ValidateFailure(
    ipc::schema::Failure::Reader failure_untrusted);

// Returns what a backend said about damage: one printable line of at most 480
// bytes. The text must be in private memory.
std::string CleanWords(capnp::Text::Reader words_untrusted);

// Returns the sign of damage or of a note, nullopt if there is no such sign.
std::optional<ipc::DamageSign> SignIfKnown(ipc::schema::Sign sign_untrusted);

}  // namespace bulkhead::worker_protocol
