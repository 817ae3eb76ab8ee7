// SPDX-License-Identifier: Apache-2.0
#include "core/application/worker_link/slot_grants.h"

#include <algorithm>
#include <string>

#include "core/base/status_macros.h"
#include "ipc/limit_name.h"

namespace bulkhead::worker_link {

Status SlotGrants::Checked(const Status& granted) {
  return granted.ok() ? granted : process_.Misbehaved(granted.message());
}

void SlotGrants::AllocateFirst() {
  if (pool_->allocated_count() == 0) (void)pool_->Grow();
}

Status SlotGrants::GrantFree(uint64_t wanted) {
  if (wanted == 0) return Status();
  const auto granted = [this] { return pool_->ledger().granted_count(); };
  // The worker gets the free slots first, so that it decodes while the kernel
  // allocates more. It needs two: it fills one while the application reads the
  // other.
  RETURN_IF_ERROR(Checked(channel_.Grant(*pool_)));
  bool grows = granted() < wanted;
  while (grows) {
    ASSIGN_OR_RETURN(grows, pool_->Grow());
    RETURN_IF_ERROR(Checked(channel_.Grant(*pool_)));
    grows = grows && granted() < std::min<uint64_t>(wanted, 2);
  }
  if (granted() > 0) return Status();
  return Status(Code::kResourceExhausted,
                "the application holds all " +
                    std::to_string(pool_->ledger().leased_count()) +
                    " frames of this session; drop some, copy the pixels of "
                    "those that it keeps, or raise " +
                    ipc::LimitName("frame_slots"));
}

Status SlotGrants::GrantAnother(uint32_t grants) {
  if (channel_.grants() != grants) return Status();
  ASSIGN_OR_RETURN(const bool grows, pool_->Grow());
  if (grows) {
    const Status granted = channel_.Grant(*pool_);
    channel_.Wake();
    return Checked(granted);
  }
  return Status(Code::kResourceExhausted,
                "the application holds " +
                    std::to_string(pool_->ledger().leased_count()) +
                    " frames of this session, and the decoder refers to its "
                    "other slots; drop some, copy the planes of those that it "
                    "keeps, or raise " +
                    ipc::LimitName("frame_slots"));
}

}  // namespace bulkhead::worker_link
