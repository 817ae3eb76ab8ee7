// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/worker/media/demux/media_bytes.h"
#include "backends/worker/session/host_replies.h"
#include "ipc/error.h"
#include "ipc/schema/session.capnp.h"

namespace bulkhead::worker::session {

// Answers a `describe` request: sends the container's declarations about itself
// and about each of its streams, of every kind. If the request asks for a scan,
// also reads all packets and reports their number and time range per stream.
// The backend is not involved.
ipc::Expected<void> Describe(HostReplies& replies, demux::MediaBytes media,
                             ipc::schema::Describe::Reader describe);

}  // namespace bulkhead::worker::session
