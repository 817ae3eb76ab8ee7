// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async.h>
#include <kj/timer.h>

#include <chrono>

#include "core/include/bulkhead/status.h"

namespace bulkhead::files {

// The time for which a file must not change before it counts as complete.
inline constexpr std::chrono::milliseconds kSettlingTime{500};

// Resolves once the open file `object` is complete, as far as its state shows:
// nobody has the file open for writing, and its device, inode, size and times
// have not changed for kSettlingTime. Resolves at once for a file that was
// changed longer ago. Fails with kBackendUnavailable if the file is still being
// written after `patience`. A file that is renamed into the place of `object`
// is another file and does not matter here.
//
// The kernel says whether somebody has the file open for writing: it refuses a
// read lease then. Where the kernel gives no leases (files of other users,
// network file systems), the time alone decides, and a writer who pauses for
// longer is not noticed. A hash in RECORD is proof in any case
// (object_verification.h).
//
// `object` is borrowed until the promise resolves. SIGIO must be ignored.
kj::Promise<Status> AwaitSettled(kj::Timer& timer, int object,
                                 std::chrono::milliseconds patience);

}  // namespace bulkhead::files
