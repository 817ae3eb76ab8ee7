// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace bulkhead::worker {

// The zygote: locks itself down (stage 1), loads the vendor's object, says
// ready or why not, and clones a worker for each request until bulkheadd closes
// the control socket. It never receives media.
//
// Finds its descriptors at the numbers of ipc/descriptors.h. A clone returns
// from this function too, after its stream has ended. Returns the process' exit
// code.
int RunZygote();

}  // namespace bulkhead::worker
