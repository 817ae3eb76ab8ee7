// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace bulkhead::worker::zygote {

// Runs the zygote: installs stage 1 of the lock-down, loads the vendor's shared
// object, reports to bulkheadd that it is ready or why it failed, and clones a
// worker for each request until bulkheadd closes the control socket. The zygote
// never receives media.
//
// The process must have the zygote's descriptors of ipc/descriptors.h. Returns
// the exit code of the process. A clone also returns from this function, when
// its work is done, with its own exit code.
int RunZygote();

}  // namespace bulkhead::worker::zygote
