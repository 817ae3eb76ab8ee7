// SPDX-License-Identifier: Apache-2.0
#include "core/application/worker_link/slot_grants.h"

#include <algorithm>
#include <string>

#include "core/base/status_macros.h"
#include "core/worker_protocol/frame_pool.h"
#include "ipc/limit_name.h"

namespace bulkhead::worker_link {
namespace {

// Grants the worker every free slot that the pool has now.
Status GrantEach(WorkerLink& link) {
  const Status granted = link.channel().Grant(*link.pool());
  return granted.ok() ? granted : link.Misbehaved(granted.message());
}

}  // namespace

Status GrantFree(WorkerLink& link, uint64_t wanted) {
  if (wanted == 0) return Status();
  worker_protocol::FramePool& pool = *link.pool();
  const auto granted = [&] { return pool.ledger().granted_count(); };
  // The worker gets the free slots first, so that it decodes while the kernel
  // allocates more. It needs two: it fills one while the application reads the
  // other. A third absorbs the jitter of both. More would only cost the time to
  // allocate them, which exceeds that of decoding in a clip of a few frames.
  RETURN_IF_ERROR(GrantEach(link));
  bool grows = granted() < std::min<uint64_t>(wanted, 3);
  while (grows) {
    ASSIGN_OR_RETURN(grows, pool.Grow());
    RETURN_IF_ERROR(GrantEach(link));
    grows = grows && granted() < std::min<uint64_t>(wanted, 2);
  }
  if (granted() > 0) return Status();
  return Status(Code::kResourceExhausted,
                "the application holds all " +
                    std::to_string(pool.ledger().leased_count()) +
                    " frames of this session; drop some, copy the pixels of "
                    "those that it keeps, or raise " +
                    ipc::LimitName("frame_slots"));
}

Status GrantAnother(WorkerLink& link, uint32_t grants) {
  if (link.channel().grants() != grants) return Status();
  ASSIGN_OR_RETURN(const bool grows, link.pool()->Grow());
  if (grows) {
    RETURN_IF_ERROR(GrantEach(link));
    link.channel().Wake();
    return Status();
  }
  return Status(Code::kResourceExhausted,
                "the application holds " +
                    std::to_string(link.pool()->ledger().leased_count()) +
                    " frames of this session, and the decoder refers to its "
                    "other slots; drop some, copy the planes of those that it "
                    "keeps, or raise " +
                    ipc::LimitName("frame_slots"));
}

}  // namespace bulkhead::worker_link
