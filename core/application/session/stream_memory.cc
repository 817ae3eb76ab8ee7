// SPDX-License-Identifier: Apache-2.0
#include "core/application/session/stream_memory.h"

#include "core/base/status_macros.h"

namespace bulkhead::session {

Status StreamMemory::GiveTo(worker_link::WorkerLink& link, const Make& make) {
  if (pool_) {
    const Status attached = link.AttachPool(pool_);
    if (attached.code() != Code::kNotFound) return attached;
  }
  ASSIGN_OR_RETURN(pool_, make());
  return link.AttachPool(pool_);
}

void StreamMemory::WorkerLost(bool kept) {
  if (pool_ && kept) {
    pool_->ledger().RevokeGrants();
  } else {
    pool_.reset();
  }
}

}  // namespace bulkhead::session
