// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async.h>
#include <kj/timer.h>

#include <string>

#include "core/include/bulkhead/status.h"
#include "ipc/unique_fd.h"

namespace bulkhead::files {

// Compares the contents of the open file `object` with `recorded`, its hash in
// RECORD. Succeeds if `recorded` is empty. Fails with kBackendUnavailable if
// the contents differ.
//
// The contents are read through the descriptor, so a file that is renamed into
// the place of `object` meanwhile does not matter. The file is read in pieces,
// and the event loop runs between them: a driver of a gigabyte does not delay
// the start of others. `object` is borrowed until the promise resolves.
kj::Promise<Status> VerifyObject(kj::Timer& timer, int object,
                                 const std::string& recorded);

// An object of more bytes is not copied: each life of a backend, and with
// start = "exec" each session, has the copy in its memory.
inline constexpr off_t kMostCopiedBytes = off_t{32} << 20;

// Returns a sealed copy of the contents of the open file `object`, which nobody
// can change between its being hashed and its being loaded, nor later. Returns
// no descriptor for an object of more than kMostCopiedBytes, or of more than
// this process may write (RLIMIT_FSIZE). Reads as VerifyObject does.
kj::Promise<Result<ipc::UniqueFd>> CopyObject(kj::Timer& timer, int object);

// Returns the SHA-256 hash of the descriptor's contents in the form that RECORD
// uses. Reads as VerifyObject does.
kj::Promise<Result<std::string>> HashObject(kj::Timer& timer, int object);

}  // namespace bulkhead::files
