// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/worker/media/media_bytes.h"
#include "backends/worker/session/host_replies.h"
#include "ipc/error.h"
#include "ipc/schema/session.capnp.h"

namespace bulkhead::worker {

// Answers `describe`: what a container declares of itself and of each of its
// streams, whatever their kind, and, if it is asked to scan, what their packets
// are. Asks nothing of the backend.
ipc::Expected<void> Describe(HostReplies& replies, MediaBytes media,
                             ipc::schema::Describe::Reader describe);

}  // namespace bulkhead::worker
