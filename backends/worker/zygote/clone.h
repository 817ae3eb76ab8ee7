// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include "ipc/error.h"

namespace bulkhead::worker {

// fork() as a sibling: the new process is a child of the caller's parent, the
// reaper, which so learns how it ended and cannot be told otherwise by vendor
// code in the caller.
//
// Create it before vendor code runs and before the lock-down. The caller must
// have a single thread; no pthread_atfork handler runs.
class SiblingCloner {
 public:
  static ipc::Expected<SiblingCloner> Create();

  // 0 in the new process, its pid in the caller.
  ipc::Expected<pid_t> Clone() const;

 private:
  explicit SiblingCloner(int* thread_id) : thread_id_(thread_id) {}

  // Where libc keeps the id of the calling thread; a raw clone must set it, or
  // abort() in the new process would aim at the old one.
  int* thread_id_;
};

}  // namespace bulkhead::worker
