// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/application/worker_link/worker_link.h"
#include "core/include/bulkhead/status.h"

namespace bulkhead::worker_link {

// Functions that grant slots of a link's pool to the worker. It may write into
// a granted slot until it publishes a picture or samples there. Then the slot
// belongs to the application until the frame is released. The ledger of the
// pool records who holds which slot. The pool grows when the worker and the
// application need more slots than there are.
//
// A worker that does not empty its ring of grants, so that a grant fails, is
// killed. Threads, trust and failure are as in WorkerLink.

// Grants the worker every free slot. `wanted` is the number of slots that the
// worker can still use. If it holds fewer than min(wanted, 3), the pool grows
// by one slot, and then further until the worker holds min(wanted, 2). Does
// nothing if `wanted` is 0. Returns kResourceExhausted if the application holds
// all slots.
Status GrantFree(WorkerLink& link, uint64_t wanted);

// Grants one more slot to a worker that waits because its decoder keeps all its
// slots as reference pictures. `grants` is the number of grants that it had
// taken when it asked for a slot. Does nothing if more grants were sent: then a
// slot is on its way. Returns kResourceExhausted if the pool cannot grow.
Status GrantAnother(WorkerLink& link, uint32_t grants);

}  // namespace bulkhead::worker_link
