// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async.h>

#include "core/discovery/discover.h"
#include "core/include/bulkhead/status.h"
#include "core/supervisor/files/remote_places.h"

namespace bulkhead::files {

// Protects the start of a backend from a remote file system that does not
// answer (remote_places.h): a child process reads the files before bulkheadd
// does. Fails with kBackendUnavailable if the file system does not answer. Does
// nothing for files on a local file system.
kj::Promise<Status> ReadFirst(RemotePlaces& places,
                              const discovery::BackendCandidate& candidate);

// Returns the failure for a `path` whose file system does not answer.
Status NoAnswerFrom(const std::string& path);

}  // namespace bulkhead::files
