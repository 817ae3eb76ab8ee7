// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async.h>

#include <memory>
#include <string>

#include "core/discovery/discover.h"
#include "core/supervisor/backend/decoding_check.h"
#include "core/supervisor/backend/devices.h"
#include "core/supervisor/backend/incarnation.h"
#include "core/supervisor/backend/start_context.h"

namespace bulkhead::health {

// Checks that a backend decodes, before a new version takes over and when a
// backend is on trial. The backend decodes the built-in clip and its own clips,
// one after another, each in a worker of its own. It must give the right
// pictures (clip_check.h).
//
// The check runs in bulkheadd. The application cannot run it, since it may not
// be in a call of the library when files change. A separate process would have
// to be started, watched and given the worker's socket, for a few messages.
//
// A file may have taken over a worker, and through it other processes of the
// incarnation. So a backend on trial is started once more: nothing that those
// processes have done reaches the checked ones. The checked processes have
// their own tasks (processes and threads) and, in tier full, their own limit of
// tasks.
//
// Owned by ApplicationRequests. Without state.
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
