// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async.h>
#include <kj/timer.h>

#include <chrono>

#include "core/include/bulkhead/status.h"

namespace bulkhead::files {

// A file counts as complete if it has not changed for this time.
inline constexpr std::chrono::milliseconds kSettlingTime{500};

// Resolves once the open file `object` seems complete: nobody has the file open
// for writing, and its device, inode, size and times have not changed for
// kSettlingTime. Resolves at once if the last change is older than that. Fails
// with kBackendUnavailable if the file is still being written after `patience`.
// A file that is renamed into the place of `object` is another file.
//
// To learn whether somebody has the file open for writing, the function asks
// for a read lease: the kernel refuses the lease if somebody has. Where the
// kernel gives no leases (files of other users, network file systems), only the
// time decides: a writer who pauses for longer than kSettlingTime is not
// noticed. Then only a hash in RECORD (the distribution's list of its files),
// if there is one, shows that the file is not complete (object_verification.h).
//
// `object` is borrowed until the promise resolves. The process must ignore
// SIGIO, which the kernel sends when somebody opens the leased file.
kj::Promise<Status> AwaitSettled(kj::Timer& timer, int object,
                                 std::chrono::milliseconds patience);

}  // namespace bulkhead::files
