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

// Checks whether a backend decodes what it should, in workers that have no
// application's media. core/supervisor/health implements this interface, and
// starts backends for it.
//
// Bound to the event loop's thread. What is passed by reference must outlive
// the promises.
class DecodingCheck {
 public:
  struct Outcome {
    // OK if the backend works, kResourceExhausted if nothing was learned, since
    // memory, tasks, processors or time were short or somebody ended a process
    // (ProvesNothing()), and otherwise the failure of the backend.
    Status status;
    // The reason why nothing was decoded if the check passed, for people; empty
    // if something was.
    std::string unchecked = {};
    // False if no process was started. Then the installed files may differ from
    // the files that serve.
    bool launched = true;
  };

  // Has `incarnation` decode the clips of a health check on `device`.
  virtual kj::Promise<Outcome> CheckRunning(
      const discovery::BackendCandidate& candidate, const StartContext& context,
      std::shared_ptr<Incarnation> incarnation,
      const CountedDevice& device) const = 0;
  // Starts backend `number` once more, beside the incarnation that serves, and
  // has the new incarnation decode the clips on `device`, a canonical name, or
  // on the first device if it is empty. A device that is not there any more is
  // a failure.
  virtual kj::Promise<Outcome> CheckAfresh(
      const discovery::BackendCandidate& candidate, unsigned number,
      const StartContext& context, const std::string& device) const = 0;

 protected:
  ~DecodingCheck() = default;
};

}  // namespace bulkhead::backend
