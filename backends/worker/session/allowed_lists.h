// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/worker/media/demux/allowed_media.h"
#include "ipc/schema/session.capnp.h"

namespace bulkhead::worker {

// Returns the containers and codecs that a request of the host allows.
AllowedMedia AllowedMediaOf(ipc::schema::AllowedMedia::Reader allowed);

}  // namespace bulkhead::worker
