// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async.h>

#include "core/discovery/discover.h"
#include "core/include/bulkhead/status.h"
#include "core/supervisor/files/remote_places.h"

namespace bulkhead::files {

// Reads the files of a backend in a child process if they lie on a remote place
// (remote_places.h), as its start is about to do. Fails with
// kBackendUnavailable if the place does not answer. Reads nothing otherwise.
kj::Promise<Status> ReadFirst(RemotePlaces& places,
                              const discovery::BackendCandidate& candidate);

// The failure of everybody who wants to read `path`, which does not answer.
Status DoesNotAnswer(const std::string& path);

}  // namespace bulkhead::files
