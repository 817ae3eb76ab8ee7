// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ipc/error.h"

namespace bulkhead::worker {

// Makes the arguments and the environment of this process empty, as
// /proc/PID/cmdline and /proc/PID/environ show them. The kernel reads them anew
// from the memory of the process each time, and shows the arguments to
// everybody, so a session could write there what it has decoded. The name of
// the process (/proc/PID/comm) stays.
//
// Call it before vendor code is loaded. Clones of the process inherit it.
ipc::Expected<void> HideArguments();

}  // namespace bulkhead::worker
