// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async.h>
#include <kj/timer.h>

#include <string>

#include "core/include/bulkhead/status.h"

namespace bulkhead::supervisor {

// Compares the open file `object` with what RECORD says of it; an empty
// `recorded` says nothing. What is compared is what the descriptor shows, so a
// file that replaces it meanwhile does not matter here. Reads in pieces and
// lets the event loop look around between them: a driver of a gigabyte delays
// nobody else's start. `object` is borrowed until the promise resolves.
//
// Fails with kBackendUnavailable, saying that the files were changed.
kj::Promise<Status> VerifyObject(kj::Timer& timer, int object,
                                 const std::string& recorded);

// The hash of what the descriptor shows, as RECORD would have it, read the same
// way.
kj::Promise<Result<std::string>> HashObject(kj::Timer& timer, int object);

}  // namespace bulkhead::supervisor
