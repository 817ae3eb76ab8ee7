// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "core/include/bulkhead/backend_counts.h"
#include "ipc/schema/control.capnp.h"

namespace bulkhead {

// Write and read the counts of a backend, which bulkheadd sends to operators.
void Write(const BackendCounts& counts,
           ipc::schema::BackendCounts::Builder out);
// Returns nullopt for a message that Write() does not make: with a list of
// another length, or with a negative time.
std::optional<BackendCounts> ToBackendCounts(
    ipc::schema::BackendCounts::Reader counts_untrusted);

}  // namespace bulkhead
