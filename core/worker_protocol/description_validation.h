// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/include/bulkhead/metadata.h"
#include "core/include/bulkhead/status.h"
#include "ipc/schema/session.capnp.h"

namespace bulkhead::session {

// What a worker says a container declares, checked before anybody sees it:
// numbers plausible or else unknown, texts short and printable. An error means
// that the worker broke the protocol. The readers must be over private memory;
// call inside ipc::ReadCatching.

// Without its streams, of which there are to be `stream_count`, at most
// `max_streams`.
struct ClaimedContainer {
  ContainerMetadata container;
  uint32_t stream_count = 0;
};
Result<ClaimedContainer> ValidateContainer(
    ipc::schema::ContainerDescription::Reader container_untrusted,
    uint32_t max_streams);

// The next stream of `container`.
Result<StreamMetadata> ValidateStream(
    ipc::schema::StreamDescription::Reader stream_untrusted,
    const ContainerMetadata& container);

}  // namespace bulkhead::session
