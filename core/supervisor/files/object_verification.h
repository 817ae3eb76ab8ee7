// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async.h>
#include <kj/timer.h>

#include <string>

#include "core/include/bulkhead/status.h"
#include "ipc/unique_fd.h"

namespace bulkhead::files {

// Compares the contents of the open file `object`, a vendor's shared object,
// with `recorded`, its hash in RECORD (the distribution's list of its files).
// Fails with kBackendUnavailable if they differ. An empty `recorded` succeeds.
//
// Reads through the descriptor, so a file that is renamed into the place of
// `object` meanwhile does not matter. Reads in pieces and lets the event loop
// run between them, so that a large object does not delay other backends.
// `object` is borrowed until the promise resolves.
kj::Promise<Status> VerifyObject(kj::Timer& timer, int object,
                                 const std::string& recorded);

// The largest object that is copied. Each incarnation of a backend, and with
// start = "exec" each session, keeps a copy in memory.
inline constexpr off_t kMostCopiedBytes = off_t{32} << 20;

// Returns a copy of the contents of the open file `object`: a memfd that is
// sealed, so that nobody can change it. Returns an invalid descriptor if the
// object has more than kMostCopiedBytes or more than this process may write
// (RLIMIT_FSIZE). Reads in the same way as VerifyObject().
kj::Promise<Result<ipc::UniqueFd>> CopyObject(kj::Timer& timer, int object);

// Returns the SHA-256 hash of the contents of `object` in the form that RECORD
// uses. Reads in the same way as VerifyObject().
kj::Promise<Result<std::string>> HashObject(kj::Timer& timer, int object);

}  // namespace bulkhead::files
