// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ipc/error.h"

namespace bulkhead::worker::zygote {

// Makes the arguments and the environment of this process empty, as
// /proc/PID/cmdline and /proc/PID/environ show them. The kernel reads both
// files from the memory of the process each time, and shows the arguments to
// everybody. Otherwise a hostile session could write decoded data to that
// memory, for others to read. The name of the process (/proc/PID/comm) stays.
//
// Call this function before vendor code is loaded. Clones of the process
// inherit it.
ipc::Expected<void> HideArguments();

}  // namespace bulkhead::worker::zygote
