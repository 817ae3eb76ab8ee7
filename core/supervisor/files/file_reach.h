// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/discovery/discover.h"
#include "core/supervisor/sandbox/granted_paths.h"

namespace bulkhead::files {

// A backend gets its shared object as a descriptor, and opens the other files
// of its distribution by their paths. In tier reduced, with a user id of its
// own, it cannot do that below a directory that is closed to this user id.
//
// Returns a sentence for operators that says so and how to change it, or an
// empty string if the backend reaches its files or has none beside the object.
// The files of the dist-info do not count: no backend needs them.
std::string ObstacleToFiles(const discovery::BackendCandidate& candidate,
                            sandbox::Reach reach);

}  // namespace bulkhead::files
