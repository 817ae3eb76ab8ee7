// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async.h>

#include <memory>
#include <string>

#include "core/discovery/discover.h"
#include "core/supervisor/backend/backend_launch.h"
#include "core/supervisor/backend/backend_start.h"
#include "core/supervisor/backend/decoding_check.h"
#include "core/supervisor/backend/devices.h"
#include "core/supervisor/backend/incarnation.h"

namespace bulkhead::health {

// Checks that a ready backend decodes, before a new version takes over and when
// a backend is on trial: it decodes the built-in clip and its own clips, one
// after another, each in a worker of its own, and gives the right pictures
// (clip_check.h).
//
// The check runs in bulkheadd because the application may be inside no call of
// the library when files change, and because another process would have to be
// started, watched and given the worker's socket for a few messages.
//
// A backend that workers with media may have taken over is checked where no
// file can reach: it is started once more. So the processes that are checked,
// their tasks and, in tier full, their count of tasks are their own, whatever
// those workers have taken or done.
//
// Owned by StartServices. Without state.
class HealthCheck final : public backend::DecodingCheck {
 public:
  kj::Promise<Outcome> CheckRunning(
      const discovery::BackendCandidate& candidate,
      const backend::StartContext& context,
      std::shared_ptr<backend::Incarnation> incarnation,
      const backend::CountedDevice& device) const override;
  kj::Promise<Outcome> CheckAfresh(const discovery::BackendCandidate& candidate,
                                   unsigned number,
                                   const backend::StartContext& context,
                                   const std::string& device) const override;
};

}  // namespace bulkhead::health
