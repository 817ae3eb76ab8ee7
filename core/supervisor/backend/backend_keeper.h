// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async.h>

#include "core/include/bulkhead/status.h"

namespace bulkhead::backend {

// The services that a backend needs from the owner of all backends. The main
// one makes a successor: a new backend from the changed files of an old one.
// Catalog implements this interface.
class BackendKeeper {
 public:
  // Starts a successor from the present files while backend `number` goes on,
  // and checks the successor. A successor that passes takes the place of the
  // old backend, which is retired. If an attempt is under way, joins it.
  virtual kj::Promise<Status> StartSuccessor(unsigned number) = 0;
  // Does the same for a backend with start = "exec", which can serve no new
  // session once its files changed. Reads the installed files first. Fails at
  // once if a successor from the same files has failed before.
  virtual kj::Promise<Status> NeedSuccessor(unsigned number) = 0;
  // Has the installed files read again after kSettlingTime (path_changes.h).
  virtual void LookAgain() = 0;

 protected:
  ~BackendKeeper() = default;
};

}  // namespace bulkhead::backend
