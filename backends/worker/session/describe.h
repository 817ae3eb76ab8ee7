// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/worker/media/demux/media_bytes.h"
#include "backends/worker/session/host_replies.h"
#include "ipc/error.h"
#include "ipc/schema/session.capnp.h"

namespace bulkhead::worker::session {

// Answers a `describe` request: sends what the container declares about itself
// and about each of its streams, of any kind. If the request asks for a scan,
// also reads all packets, and sends their number and time range for each
// stream. Does not call the backend.
ipc::Expected<void> Describe(HostReplies& replies, demux::MediaBytes media,
                             ipc::schema::Describe::Reader describe);

}  // namespace bulkhead::worker::session
