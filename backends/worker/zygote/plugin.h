// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "backends/sdk/bulkhead_backend.h"
#include "ipc/error.h"

namespace bulkhead::worker {

// Loads the vendor's shared object and calls its entry function, which is the
// first vendor code in this process. Stage 1 of the lock-down must be installed
// before. `path` is the place of the object in the sandbox's root, and `object`
// the file that bulkheadd opened there and verified. The object is never
// unloaded.
//
// The object is loaded from its path, which must lead to that very file. In
// tier full the path is a mount or a copy of its own. In tier reduced a process
// that may write to the path can still replace the file after this check. In
// tier reduced a directory above may also be closed to this process, which has
// a uid of its own where Bulkhead runs as root. The object is then loaded from
// the descriptor, and finds no file beside it: its $ORIGIN is /proc/self/fd.
//
// Fails with kBackendUnavailable and a reason: another file lies at the path,
// the dynamic linker's reason (missing symbol, unresolved library), an error in
// the function table, or an attempt of the object to start Bulkhead from inside
// the backend.
ipc::Expected<const bulkhead_backend*> LoadPlugin(const std::string& path,
                                                  int object,
                                                  const std::string& symbol);

}  // namespace bulkhead::worker
