// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <vector>

#include "ipc/unique_fd.h"

namespace bulkhead::sandbox {

// A living child of a process, as the kernel lists it.
struct ChildProcess {
  pid_t inner_pid;  // The pid in the child's own pid namespace.
  ipc::UniqueFd pidfd;
};

// Returns the living children of `parent`, which must be a child of this
// process that has not been reaped. Returns an empty list where /proc does not
// list children (no CONFIG_PROC_CHILDREN). Each pidfd is certain to belong to a
// child of `parent`, even if a pid was reused during the call.
std::vector<ChildProcess> ChildrenOf(pid_t parent);

}  // namespace bulkhead::sandbox
