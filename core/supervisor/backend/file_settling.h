// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async.h>
#include <kj/timer.h>

#include <chrono>

#include "core/include/bulkhead/status.h"

namespace bulkhead::supervisor {

// How long a file must stay as it is to be taken for complete.
inline constexpr std::chrono::milliseconds kSettlingTime{500};

// Resolves once the open file `object` is complete as far as that can be known
// without being told: nobody has it open for writing, and its device, inode,
// size and times have been the same for kSettlingTime. At once for a file that
// was changed longer ago. A file that is replaced by renaming is another one
// and does not matter here.
//
// That nobody writes is asked of the kernel (a read lease is refused while
// somebody may); where it gives no leases, for files of others or on file
// systems over a network, the time alone decides: a writer who pauses for
// longer is not noticed there. Whoever can say what the contents should be says
// it in RECORD (object_verification.h).
//
// `object` is borrowed until the promise resolves. SIGIO must be ignored.
// Fails with kBackendUnavailable when it is still written after `patience`.
kj::Promise<Status> AwaitSettled(kj::Timer& timer, int object,
                                 std::chrono::milliseconds patience);

}  // namespace bulkhead::supervisor
