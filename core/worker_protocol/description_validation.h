// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/include/bulkhead/metadata.h"
#include "core/include/bulkhead/status.h"
#include "ipc/schema/session.capnp.h"

namespace bulkhead::worker_protocol {

// Functions that check a worker's description of a container before anything
// else sees it: implausible numbers become unknown, texts are short and
// printable. An error means that the worker broke the protocol. The readers
// must be over private memory; call inside ipc::ReadCatching.

// A container without its streams, of which `stream_count` are to follow: at
// most the `max_streams` that were asked for.
struct ClaimedContainer {
  ContainerMetadata container;
  uint32_t stream_count = 0;
};
Result<ClaimedContainer> ValidateContainer(
    ipc::schema::ContainerDescription::Reader container_untrusted,
    uint32_t max_streams);

// Returns the next stream of `container`, which follows the streams that
// `container` already has.
Result<StreamMetadata> ValidateStream(
    ipc::schema::StreamDescription::Reader stream_untrusted,
    const ContainerMetadata& container);

}  // namespace bulkhead::worker_protocol
