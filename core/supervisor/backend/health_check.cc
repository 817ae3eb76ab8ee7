// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/backend/health_check.h"

#include <utility>

namespace bulkhead::supervisor {

kj::Promise<Status> HealthCheck::Run(uint32_t device,
                                     std::chrono::milliseconds limit) {
  if (next_ == clips_.size()) return Status();
  auto check =
      std::make_unique<ClipCheck>(port_, incarnation_, clips_[next_++]);
  auto checked = check->Run(device, limit);
  return checked
      .then([this, &check = *check](Status status) {
        if (!check.unsupported()) ++decoded_;
        return status;
      })
      // The worker ends before that of the next clip begins.
      .attach(std::move(check))
      .then([this, device, limit](Status status) -> kj::Promise<Status> {
        if (!status.ok()) return status;
        return Run(device, limit);
      });
}

}  // namespace bulkhead::supervisor
