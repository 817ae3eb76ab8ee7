// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ipc/error.h"

namespace bulkhead::worker::zygote {

// Makes /proc/PID/cmdline and /proc/PID/environ of this process empty. This
// closes a covert channel: each time somebody reads them, the kernel copies the
// arguments and the environment from the memory of the process, and everybody
// may read the arguments. A hostile session could write decoded data to that
// memory. The name of the process (/proc/PID/comm) stays.
//
// Call this function before the lock-down of stage 1, which forbids the system
// call. Clones of the process inherit the effect. Fails with kUnsupported if
// the kernel refuses; the backend then does not start.
ipc::Expected<void> HideArguments();

}  // namespace bulkhead::worker::zygote
