// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async.h>

#include <memory>
#include <optional>
#include <vector>

#include "core/discovery/discover.h"
#include "core/include/bulkhead/status.h"
#include "core/supervisor/backend/backend_launch.h"
#include "core/supervisor/backend/devices.h"
#include "core/supervisor/backend/incarnation.h"
#include "core/supervisor/blame/culprit.h"

namespace bulkhead::backend {

// The result of counting the devices of a backend.
struct DeviceCount {
  Status status;
  std::vector<CountedDevice> devices = {};
  // The culprit of a failure; empty if the worker itself said why it cannot
  // count the devices.
  std::optional<blame::Culprit> culprit = std::nullopt;
  // The step that was reached. A failure before kCounting is not the worker's
  // fault.
  enum class Step { kPreparing, kCloning, kCounting };
  Step step = Step::kCounting;
};

// Has `incarnation` clone a worker that counts the devices, and ends the worker
// afterwards. The worker is hostile. Its one message is validated, and the wait
// for the message has a deadline. References must outlive the promise.
kj::Promise<DeviceCount> CountDevices(
    const StartContext& context, const discovery::BackendCandidate& candidate,
    std::shared_ptr<Incarnation> incarnation);

}  // namespace bulkhead::backend
