// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "backends/sdk/bulkhead_backend.h"
#include "ipc/error.h"

namespace bulkhead::worker {

// Checks that `path`, in the sandbox's root, is the file that bulkheadd opened,
// verified and passed as the descriptor `object`. In tier full the path is a
// mount of its own, so it cannot change between this check and LoadPlugin. In
// tier reduced a process that may write to the path can still replace the file
// in between.
ipc::Expected<void> CheckIsObject(const std::string& path, int object);

// Loads the vendor's shared object and calls its entry function, which is the
// first vendor code in this process. Stage 1 of the lock-down must be installed
// before. `path` is the place of the object in the sandbox's root. The object
// is never unloaded.
//
// Fails with kBackendUnavailable and a reason: the dynamic linker's (missing
// symbol, unresolved library), an error in the function table, or an attempt of
// the object to start Bulkhead from inside the backend.
ipc::Expected<const bulkhead_backend*> LoadPlugin(const std::string& path,
                                                  const std::string& symbol);

}  // namespace bulkhead::worker
