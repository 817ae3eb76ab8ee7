// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "core/include/bulkhead/backend_counts.h"
#include "ipc/schema/control.capnp.h"

namespace bulkhead {

// The counts of a backend, as bulkheadd sends them to operators.
void Write(const BackendCounts& counts,
           ipc::schema::BackendCounts::Builder out);
// Returns nullopt if the message is not one that Write() makes: a list of
// another length, or a time that is negative.
std::optional<BackendCounts> ToBackendCounts(
    ipc::schema::BackendCounts::Reader counts_untrusted);

}  // namespace bulkhead
