// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async.h>

#include <memory>
#include <string>

#include "core/discovery/discover.h"
#include "core/include/bulkhead/status.h"
#include "core/supervisor/backend/devices.h"
#include "core/supervisor/backend/incarnation.h"

namespace bulkhead::backend {

struct StartContext;

// Checks whether a backend decodes known clips, in workers that have no media
// of an application. core/supervisor/health implements this interface, and
// starts backends for its checks.
//
// Bound to the event loop's thread. References must outlive the promises.
class DecodingCheck {
 public:
  struct Outcome {
    // - OK: the backend works.
    // - kResourceExhausted: the check proves nothing (blame::ProvesNothing),
    //   since memory, tasks, processors or time were short, or other programs
    //   ended a process.
    // - Any other code: the failure of the backend.
    Status status;
    // If the check passed without decoding anything: the reason, for people.
    // Empty if something was decoded.
    std::string unchecked = {};
    // False if no process was started. The installed files may be gone then,
    // and only the serving incarnation still has them loaded.
    bool launched = true;
  };

  // Has `incarnation` decode the clips of a health check on `device`.
  virtual kj::Promise<Outcome> CheckRunning(
      const discovery::BackendCandidate& candidate, const StartContext& context,
      std::shared_ptr<Incarnation> incarnation,
      const CountedDevice& device) const = 0;
  // Starts backend `number` once more, beside the incarnation that serves, and
  // has the new incarnation decode the clips on `device`. This is a canonical
  // name ("openreg:1"), or empty for the first device. Fails if the device does
  // not exist any more.
  virtual kj::Promise<Outcome> CheckAfresh(
      const discovery::BackendCandidate& candidate, unsigned number,
      const StartContext& context, const std::string& device) const = 0;

 protected:
  ~DecodingCheck() = default;
};

}  // namespace bulkhead::backend
