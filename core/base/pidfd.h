// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

namespace bulkhead {

// The pid, in this process' namespace, of the process that `pidfd` refers to:
// the one number about it that cannot be forged or reused while the descriptor
// is open. 0 when it is dead, in no namespace of ours, or /proc is missing.
pid_t PidOf(int pidfd);

// Whether that process has ended, reaped or not. True too for what is no pidfd.
bool HasEnded(int pidfd);

}  // namespace bulkhead
