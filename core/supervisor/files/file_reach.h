// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/discovery/discover.h"
#include "core/supervisor/sandbox/granted_paths.h"

namespace bulkhead::files {

// Returns a sentence for operators that says why the backend cannot open the
// files beside its shared object and how to change that. Returns an empty
// string if the backend can open them or has none. The files of the metadata
// (dist-info) do not count: no backend needs them.
//
// A backend gets its shared object as a descriptor, and opens the other files
// of its distribution by their paths. In tier reduced, with a user id of its
// own, it cannot open files below a directory that this user id may not enter.
std::string ObstacleToFiles(const discovery::BackendCandidate& candidate,
                            sandbox::Reach reach);

}  // namespace bulkhead::files
