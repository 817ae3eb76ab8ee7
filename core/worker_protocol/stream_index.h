// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "core/include/bulkhead/host_options.h"
#include "core/include/bulkhead/status.h"

namespace bulkhead::worker_protocol {

// Checks the index of the opened stream and the number of streams, as the
// worker reports them. The index must be below the count, and the count within
// `limits`. An error means that the worker broke the protocol.
Status ValidateStreamIndex(int32_t index_untrusted, uint32_t count_untrusted,
                           const Limits& limits);
// Checks that the worker opened the stream that the caller asked for, if it
// asked for one. An error means that the worker broke the protocol.
Status CheckAskedStream(std::optional<int> asked, int32_t opened);

}  // namespace bulkhead::worker_protocol
