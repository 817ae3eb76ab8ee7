// SPDX-License-Identifier: Apache-2.0
#include "ipc/lockdown_filters.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>

#include <cstddef>
#include <cstdint>

namespace bulkhead::ipc {

std::vector<sock_filter> NoDescriptorsAreSent() {
  return {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sendmsg, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
}

std::vector<sock_filter> OnlyItselfMayBeSignaled(pid_t pid) {
  // The first argument of tgkill() is the process.
  constexpr auto kProcess = offsetof(seccomp_data, args);
  return {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_tgkill, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kProcess),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(pid), 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
}

}  // namespace bulkhead::ipc
