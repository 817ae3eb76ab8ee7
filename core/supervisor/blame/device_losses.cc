// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/blame/device_losses.h"

#include <algorithm>

namespace bulkhead::blame {

void DeviceLosses::Lost(const std::string& device, const std::string& input,
                        Time opened, Time now) {
  const auto [losses, first] =
      losses_.try_emplace(device, Losses{make_policy_(), now, {}});
  // The empty name takes the last place. It stands for all further inputs and
  // is never removed.
  std::set<std::string>& inputs = losses->second.inputs;
  inputs.insert(inputs.size() + 1 < kMaxInputs ? input : std::string());
  // This session lost the device together with a session that was counted.
  if (!first && opened <= losses->second.latest) return;
  losses->second.latest = now;
  (void)losses->second.policy.Failed(Culprit::kDevice, now);
}

void DeviceLosses::Delivered(const std::string& device,
                             const std::string& input) {
  const auto losses = losses_.find(device);
  if (losses == losses_.end() || input.empty()) return;
  losses->second.inputs.erase(input);
  if (losses->second.inputs.empty()) losses_.erase(losses);
}

std::chrono::nanoseconds DeviceLosses::TimeLeft(const std::string& device,
                                                Time now) const {
  const auto losses = losses_.find(device);
  if (losses == losses_.end()) return std::chrono::nanoseconds(0);
  return std::max(
      std::chrono::nanoseconds(0),
      std::chrono::nanoseconds(losses->second.policy.retry_at() - now));
}

}  // namespace bulkhead::blame
