// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "backends/sdk/bulkhead_backend.h"
#include "ipc/error.h"

namespace bulkhead::worker {

// Loads the vendor's object and calls its entry function: from here on vendor
// code has run in this process, which must be locked down before. `path` is
// where the object lies in the sandbox's root. The object is never unloaded.
//
// kBackendUnavailable with the dynamic linker's reason (missing symbol,
// unresolved library), or with what is wrong with the table.
ipc::Expected<const bulkhead_backend*> LoadPlugin(const std::string& path,
                                                  const std::string& symbol);

}  // namespace bulkhead::worker
