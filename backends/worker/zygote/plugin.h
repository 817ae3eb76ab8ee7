// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "backends/sdk/bulkhead_backend.h"
#include "ipc/error.h"

namespace bulkhead::worker::zygote {

// Loads the vendor's shared object and calls its entry function, `symbol`. This
// runs the first vendor code in this process, so stage 1 of the lock-down must
// be installed already. `path` is the path of the object in the sandbox.
// `object` is a descriptor of the file that bulkheadd opened at this path and
// verified. The object is never unloaded.
//
// The dynamic linker loads the object from its path, after a check that the
// path leads to the file `object`. In tier full nobody can replace the file at
// the path, since it is a mount or a private copy. In tier reduced:
//   - A process that may write to the path can still replace the file after
//     the check.
//   - If Bulkhead runs as root, this process has a uid of its own, which may
//     have no access to a directory of the path. The object is then loaded from
//     the descriptor. The dynamic linker takes /proc/self/fd for the object's
//     folder ($ORIGIN), so it finds no libraries beside the object.
//
// Fails with kBackendUnavailable and a reason:
//   - another file lies at the path;
//   - the dynamic linker refuses the object (missing symbol or library);
//   - the entry function throws, or its function table is invalid;
//   - the object uses libbulkhead, which does not start inside a backend.
ipc::Expected<const bulkhead_backend*> LoadPlugin(const std::string& path,
                                                  int object,
                                                  const std::string& symbol);

}  // namespace bulkhead::worker::zygote
