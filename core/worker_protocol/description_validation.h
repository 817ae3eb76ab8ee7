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
// must read private copies of the messages, which the worker cannot change.
// Call inside ipc::ReadCatching.

// A container without its streams. The worker describes its `stream_count`
// streams one by one afterwards.
struct ClaimedContainer {
  ContainerMetadata container;
  uint32_t stream_count = 0;
};
Result<ClaimedContainer> ValidateContainer(
    ipc::schema::ContainerDescription::Reader container_untrusted,
    uint32_t max_streams);

// Checks and returns the stream that follows those in `container`. The caller
// then adds it to `container`.
Result<StreamMetadata> ValidateStream(
    ipc::schema::StreamDescription::Reader stream_untrusted,
    const ContainerMetadata& container);

}  // namespace bulkhead::worker_protocol
