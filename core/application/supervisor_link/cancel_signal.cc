// SPDX-License-Identifier: Apache-2.0
#include "core/application/supervisor_link/cancel_signal.h"

#include <unistd.h>

#include <cstdint>
#include <utility>

#include "core/base/from_ipc.h"
#include "core/base/status_macros.h"
#include "ipc/waiter.h"

namespace bulkhead::session {

Result<std::shared_ptr<CancelSignal>> CancelSignal::Create() {
  ASSIGN_OR_RETURN(ipc::UniqueFd event, FromIpc(ipc::MakeEventFd()));
  return std::make_shared<CancelSignal>(std::move(event));
}

Result<std::shared_ptr<CancelSignal>> CancelSignal::Of(
    const std::optional<Cancellation>& cancellation) {
  if (!cancellation) return Create();
  return cancellation->signal_;
}

CancelSignal::CancelSignal(ipc::UniqueFd event)
    : event_(std::move(event)), owner_(::getpid()) {}

void CancelSignal::Raise() {
  if (::getpid() != owner_) return;
  ever_raised_ = true;
  const uint64_t one = 1;
  // Fails only if the counter is full, and is readable then as well.
  [[maybe_unused]] const ssize_t put = ::write(event_.get(), &one, sizeof(one));
}

bool CancelSignal::Take() {
  uint64_t times = 0;
  return ever_raised_ && ::read(event_.get(), &times, sizeof(times)) > 0;
}

Status Cancelled() {
  return Status(
      Code::kCancelled,
      "the application cancelled the call; call again when the result "
      "is wanted");
}

}  // namespace bulkhead::session
