// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <capnp/blob.h>

#include <optional>
#include <string>

#include "core/include/bulkhead/host_options.h"
#include "core/include/bulkhead/status.h"
#include "core/include/bulkhead/video_decoder.h"
#include "ipc/damage_sign.h"
#include "ipc/message_socket.h"
#include "ipc/schema/session.capnp.h"
#include "ipc/schema/types.capnp.h"

namespace bulkhead::worker_protocol {

// Checks a worker's first message. Returns kBackendMisbehaved unless the worker
// speaks this version of the protocol. Returns kResourceExhausted, with the
// worker's words, if the worker serves several sessions (`shared`) and refuses
// this one.
Status ValidateHello(ipc::ReceivedMessage& hello_untrusted, bool shared);

// Checks a worker's answer to opening a video stream before anything else uses
// it: sizes must be within the limits and ratios sane. Texts are made short and
// printable. An error means that the worker broke the protocol. The reader must
// read a private copy of the message, which the worker cannot change. Call
// inside ipc::ReadCatching.
Result<VideoMetadata> ValidateOpened(
    ipc::schema::Opened::Reader opened_untrusted, const Limits& limits);

// A failure that a worker has reported, after it was checked.
struct ClaimedFailure {
  Status status;
};
// Checks a failure that a worker has reported. A worker may blame the input,
// the request, its backend, a lack of resources or a bug of Bulkhead. The
// Result is an error in two cases:
// - The worker reports a fact that only the host can know, such as that it
//   died, was late or was cancelled. This breaks the protocol.
// - The worker reports kBackendMisbehaved: the vendor's code broke
//   bulkhead_backend.h.
// The reader must read a private copy of the message, which the worker cannot
// change. Call inside ipc::ReadCatching.
Result<ClaimedFailure> ValidateFailure(
    ipc::schema::Failure::Reader failure_untrusted);

// Returns a backend's words about damage as one printable line of at most 480
// bytes. The text must be in private memory.
std::string CleanWords(capnp::Text::Reader words_untrusted);

// Returns the sign of damage or of a note; nullopt for a value that is no sign.
std::optional<ipc::DamageSign> SignIfKnown(ipc::schema::Sign sign_untrusted);

}  // namespace bulkhead::worker_protocol
