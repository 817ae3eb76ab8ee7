// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include "core/supervisor/backend/host_counters.h"
#include "core/supervisor/catalog/catalog.h"
#include "ipc/schema/control.capnp.h"

namespace bulkhead::supervisor {

// What an operator sees of the backends as they are: nothing is started and no
// file of theirs is read for it. `counters`: the host's session counters.
void DescribeRunning(const Catalog& catalog, const HostCounters& counters,
                     ipc::schema::HostDescription::Builder out);

// Its resident memory; 0: there is no such process.
uint64_t MemoryOf(pid_t pid);

}  // namespace bulkhead::supervisor
