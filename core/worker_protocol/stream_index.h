// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "core/include/bulkhead/host.h"
#include "core/include/bulkhead/status.h"

namespace bulkhead::worker_protocol {

// Checks which stream a worker says that it opened, and of how many: the index
// must be below the count, and the count within `limits`. An error means that
// the worker broke the protocol.
Status ValidateStreamIndex(int32_t index_untrusted, uint32_t count_untrusted,
                           const Limits& limits);
// The same for a stream that the caller named: it must be the one that was
// opened.
Status CheckAskedStream(std::optional<int> asked, int32_t opened);

}  // namespace bulkhead::worker_protocol
