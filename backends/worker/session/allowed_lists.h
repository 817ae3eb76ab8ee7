// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/worker/media/demux/allowed_media.h"
#include "ipc/schema/session.capnp.h"

namespace bulkhead::worker::session {

// Returns the containers and codecs that a request of the host allows.
demux::AllowedMedia AllowedMediaOf(ipc::schema::AllowedMedia::Reader allowed);

}  // namespace bulkhead::worker::session
