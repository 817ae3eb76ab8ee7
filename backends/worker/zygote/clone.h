// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include "ipc/error.h"

namespace bulkhead::worker::zygote {

// Forks the zygote, but makes the new process its sibling (CLONE_PARENT): the
// parent of both is the reaper. The reaper therefore learns from the kernel how
// the new process ended, which vendor code in the zygote cannot forge.
//
// Must be created before the lock-down and before vendor code runs. The process
// that calls Clone() must have a single thread. No pthread_atfork handler runs.
class SiblingCloner {
 public:
  static ipc::Expected<SiblingCloner> Create();

  // Returns 0 in the new process, and the pid of the new process in the caller.
  // Fails with kResourceExhausted if the kernel refuses a process.
  ipc::Expected<pid_t> Clone() const;

 private:
  explicit SiblingCloner(int* thread_id) : thread_id_(thread_id) {}

  // Points to the thread id that libc caches. A raw clone must update the id,
  // because abort() sends its signal to the cached id.
  int* thread_id_;
};

}  // namespace bulkhead::worker::zygote
