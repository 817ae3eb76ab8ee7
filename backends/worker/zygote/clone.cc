// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/zygote/clone.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace bulkhead::worker::zygote {

ipc::Expected<SiblingCloner> SiblingCloner::Create() {
  // libc registered the address with set_tid_address at start-up.
  int* thread_id = nullptr;
  if (::prctl(PR_GET_TID_ADDRESS, &thread_id) != 0 || thread_id == nullptr ||
      *thread_id != ::gettid()) {
    return ipc::Fail(ipc::Code::kUnsupported,
                     "this kernel does not tell where libc keeps thread ids "
                     "(CONFIG_CHECKPOINT_RESTORE)");
  }
  return SiblingCloner(thread_id);
}

ipc::Expected<pid_t> SiblingCloner::Clone() const {
  // A raw system call, since libc's fork() cannot pass CLONE_PARENT.
  // CLONE_CHILD_SETTID keeps libc's cached thread id right, as fork() would.
  const long pid =
      ::syscall(SYS_clone, CLONE_PARENT | CLONE_CHILD_SETTID | SIGCHLD, nullptr,
                nullptr, thread_id_, 0);
  if (pid < 0) {
    return ipc::FailErrno(ipc::Code::kResourceExhausted,
                          "cannot clone a worker", errno);
  }
  return static_cast<pid_t>(pid);
}

}  // namespace bulkhead::worker::zygote
