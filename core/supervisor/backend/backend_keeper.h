// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async.h>

#include "core/include/bulkhead/status.h"

namespace bulkhead::supervisor {

// What a backend asks of the object that keeps all backends. Catalog implements
// it.
class BackendKeeper {
 public:
  // Starts a backend from the present files beside backend `number` and checks
  // it. If it passes, it takes the place of the old one, which is retired.
  // Joins an attempt that is under way.
  virtual kj::Promise<Status> StartSuccessor(unsigned number) = 0;
  // Looks at the installed files again after the settling time.
  virtual void LookAgain() = 0;

 protected:
  ~BackendKeeper() = default;
};

}  // namespace bulkhead::supervisor
