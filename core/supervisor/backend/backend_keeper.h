// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async.h>

#include "core/include/bulkhead/status.h"

namespace bulkhead::backend {

// The services that a backend needs from the object that keeps all backends.
// Catalog implements this interface.
class BackendKeeper {
 public:
  // Starts a successor from the present files beside backend `number` and
  // checks the successor. A successor that passes takes the place of the old
  // backend, which is retired. Joins an attempt that is under way.
  virtual kj::Promise<Status> StartSuccessor(unsigned number) = 0;
  // As StartSuccessor(), for a backend that can serve no new session because
  // its files changed: reads the installed files first, and fails at once if
  // they were tried already and failed.
  virtual kj::Promise<Status> NeedSuccessor(unsigned number) = 0;
  // Looks at the installed files again after the settling time.
  virtual void LookAgain() = 0;

 protected:
  ~BackendKeeper() = default;
};

}  // namespace bulkhead::backend
