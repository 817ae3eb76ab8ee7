// SPDX-License-Identifier: Apache-2.0
#include "core/application/supervisor_link/session_counting.h"

#include "core/base/from_ipc.h"
#include "core/base/status_macros.h"

namespace bulkhead::supervisor_link {

Result<std::shared_ptr<SessionCounting>> SessionCounting::Create() {
  ASSIGN_OR_RETURN(
      auto region,
      FromIpc(ipc::OwnedRegion::CreateWritable(
          "bulkhead-counters", kMaxCountedSessions * sizeof(SessionCounter))));
  return std::shared_ptr<SessionCounting>(
      new SessionCounting(std::move(region)));
}

SessionCounter& SessionCounting::At(uint32_t place) {
  if (place == kMaxCountedSessions) return unread_;
  // The region starts zeroed, and zeroed memory is a valid counter with the
  // value 0.
  return reinterpret_cast<SessionCounter*>(
      region_.writable_bytes().data())[place];
}

SessionCounting::Lease SessionCounting::Take() {
  for (uint32_t place = 0; place < kMaxCountedSessions; ++place) {
    if (taken_[place].exchange(true)) continue;
    At(place).frames.store(0, std::memory_order_relaxed);
    At(place).restarts.store(0, std::memory_order_relaxed);
    At(place).waiting_since.store(0, std::memory_order_relaxed);
    return Lease(shared_from_this(), place);
  }
  return Lease(shared_from_this(), kMaxCountedSessions);
}

SessionCounting::Lease::~Lease() {
  if (counting_ && place_ < kMaxCountedSessions) {
    counting_->taken_[place_] = false;
  }
}

}  // namespace bulkhead::supervisor_link
