// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include "core/supervisor/catalog/catalog.h"
#include "core/supervisor/records/host_counters.h"
#include "core/supervisor/records/kept_counts.h"
#include "ipc/schema/control.capnp.h"

namespace bulkhead::supervisor {

// Describes the present state of each backend to an operator. Starts no backend
// and reads no file of a backend.
void DescribeRunning(const catalog::Catalog& catalog,
                     const records::HostCounters& counters,
                     ipc::schema::HostDescription::Builder out);

// Describes the BackendCounts (bulkhead/backend_counts.h) of each backend,
// including the counts of its open sessions.
void DescribeCounts(const catalog::Catalog& catalog,
                    const records::KeptCounts& kept,
                    ipc::schema::HostDescription::Builder out);

// Returns the resident memory of a process in bytes, or 0 if there is no such
// process.
uint64_t MemoryOf(pid_t pid);

}  // namespace bulkhead::supervisor
