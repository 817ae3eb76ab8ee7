// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "core/include/bulkhead/backend_counts.h"
#include "ipc/schema/control.capnp.h"

namespace bulkhead {

// Write and read the counts of a backend, which bulkheadd sends to operators.
void Write(const BackendCounts& counts,
           ipc::schema::BackendCounts::Builder out);
// Returns nullopt if a list of the message has another length than Write()
// gives it, or if a time is negative.
std::optional<BackendCounts> ToBackendCounts(
    ipc::schema::BackendCounts::Reader counts_untrusted);

}  // namespace bulkhead
