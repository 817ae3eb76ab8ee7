// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "backends/sdk/bulkhead_backend.h"
#include "ipc/error.h"

namespace bulkhead::worker::zygote {

// Loads the vendor's shared object and calls its entry function, `symbol`,
// which is the first vendor code in this process. Stage 1 of the lock-down must
// be installed before. `path` is the path of the object in the sandbox.
// `object` is a descriptor of the file that bulkheadd opened at this path and
// verified. The object is never unloaded.
//
// The object is loaded from its path, after a check that the path leads to the
// file `object`. In tier full the path is a mount or a copy of its own, which
// nobody can replace. In tier reduced:
//   - A process that may write to the path can still replace the file after
//     the check.
//   - If Bulkhead runs as root, this process has a uid of its own, which may
//     have no access to a directory of the path. The object is then loaded from
//     the descriptor. Its $ORIGIN (its folder, for the dynamic linker) is
//     /proc/self/fd, so it finds no files of its folder.
//
// Fails with kBackendUnavailable and a reason: another file lies at the path,
// the dynamic linker's reason (missing symbol, unresolved library), an
// exception of the entry function, an error in the function table, or the
// object's attempt to use libbulkhead, which does not start inside a backend.
ipc::Expected<const bulkhead_backend*> LoadPlugin(const std::string& path,
                                                  int object,
                                                  const std::string& symbol);

}  // namespace bulkhead::worker::zygote
