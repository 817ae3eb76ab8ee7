// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include "ipc/error.h"

namespace bulkhead::worker {

// Forks the calling process, but makes the new process a sibling: its parent is
// the caller's parent, the reaper. The reaper therefore learns from the kernel
// how the new process ended, and vendor code in the caller cannot forge that.
//
// Must be created before the lock-down and before vendor code runs. The caller
// must have a single thread. No pthread_atfork handler runs.
class SiblingCloner {
 public:
  static ipc::Expected<SiblingCloner> Create();

  // Returns 0 in the new process, and the pid of the new process in the caller.
  ipc::Expected<pid_t> Clone() const;

 private:
  explicit SiblingCloner(int* thread_id) : thread_id_(thread_id) {}

  // The place where libc caches the id of the calling thread. A raw clone must
  // update it; otherwise abort() in the new process would signal the old one.
  int* thread_id_;
};

}  // namespace bulkhead::worker
