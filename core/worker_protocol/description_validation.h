// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/include/bulkhead/metadata.h"
#include "core/include/bulkhead/status.h"
#include "ipc/schema/session.capnp.h"

namespace bulkhead::worker_protocol {

// Functions that check a worker's description of a container before anything
// else uses it. Implausible numbers become unknown; texts become short and
// printable. An error means that the worker broke the protocol. The readers
// must be over private memory; call inside ipc::ReadCatching.

// A container without its streams. `stream_count` streams are to follow, at
// most the `max_streams` that were asked for.
struct ClaimedContainer {
  ContainerMetadata container;
  uint32_t stream_count = 0;
};
Result<ClaimedContainer> ValidateContainer(
    ipc::schema::ContainerDescription::Reader container_untrusted,
    uint32_t max_streams);

// Checks and returns the next stream, which `container` does not have yet.
Result<StreamMetadata> ValidateStream(
    ipc::schema::StreamDescription::Reader stream_untrusted,
    const ContainerMetadata& container);

}  // namespace bulkhead::worker_protocol
