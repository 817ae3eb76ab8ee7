// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include "core/supervisor/catalog/catalog.h"
#include "core/supervisor/records/host_counters.h"
#include "core/supervisor/records/kept_counts.h"
#include "ipc/schema/control.capnp.h"

namespace bulkhead::supervisor {

// Describes the present state of the backends to an operator. Starts nothing
// and reads no file of a backend.
void DescribeRunning(const catalog::Catalog& catalog,
                     const records::HostCounters& counters,
                     ipc::schema::HostDescription::Builder out);

// Says what was counted of each backend, its open sessions included.
void DescribeCounts(const catalog::Catalog& catalog,
                    const records::KeptCounts& kept,
                    ipc::schema::HostDescription::Builder out);

// Returns the resident memory of a process in bytes, or 0 if there is no such
// process.
uint64_t MemoryOf(pid_t pid);

}  // namespace bulkhead::supervisor
