// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "backends/sdk/bulkhead_backend.h"
#include "ipc/error.h"

namespace bulkhead::worker {

// Whether `path`, in the sandbox's root, is the file that bulkheadd opened and
// checked, and passed as `object`. In tier full the path is a mount of its own,
// which cannot change between this and the loading of it; in tier reduced
// somebody who may write there could still be quicker.
ipc::Expected<void> CheckIsObject(const std::string& path, int object);

// Loads the vendor's object and calls its entry function: from here on vendor
// code has run in this process, which must be locked down before. `path` is
// where the object lies in the sandbox's root. The object is never unloaded.
//
// kBackendUnavailable with the dynamic linker's reason (missing symbol,
// unresolved library), with what is wrong with the table, or, if it tried to
// start Bulkhead in here, with that.
ipc::Expected<const bulkhead_backend*> LoadPlugin(const std::string& path,
                                                  const std::string& symbol);

}  // namespace bulkhead::worker
