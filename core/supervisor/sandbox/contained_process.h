// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>

#include "core/include/bulkhead/status.h"
#include "core/supervisor/sandbox/cgroup.h"
#include "core/supervisor/sandbox/policy.h"
#include "ipc/deadline.h"
#include "ipc/unique_fd.h"

namespace bulkhead::sandbox {

// Clones the calling process into a sandbox and runs `enter` there. By then:
//
//   - tier full: six new namespaces, the root of new_root.h, no host name;
//   - the cgroup that is given, so that its limits hold from here on;
//   - the working directory is /;
//   - the outside ids of `outside_id` where given (needs root), else the
//     caller's own; no supplementary groups where they can be dropped (an
//     unprivileged caller cannot);
//   - a session of its own, limits set but that of open files, which `enter`
//     sets once it has closed what it inherited; no core dumps, default
//     signals;
//   - no capability left, in any set; no_new_privs;
//   - in tier full, it dies with the caller's thread.
//
// Seccomp and Landlock come last, from what `enter` starts.
//
// `enter` either replaces the process (execve), which closes `setup_fd`, or
// calls _exit(0), or returns why it could not. The child runs on a copy of the
// caller's heap: sound only because the caller has a single thread, and cheap
// only because its heap is small.
//
// The caller is blocked until then, by `deadline` at most. Failure is
// kSandboxUnavailable with the step that failed, or kDeadlineExceeded; the
// child is dead and reaped in both cases. A child that started is the caller's
// to reap: waitid(P_PIDFD). Its exit signal is SIGCHLD, whose disposition must
// not be SIG_IGN.

struct Containment {
  Tier tier;  // kFull or kReduced
  const Policy& policy;
  std::optional<uint32_t> outside_id;  // uid and gid
  const Cgroup* cgroup = nullptr;      // if there is one for it
};

struct ContainedProcess {
  ipc::UniqueFd pidfd;
  pid_t pid;
};

Result<ContainedProcess> StartContained(
    const Containment& containment,
    const std::function<Status(int setup_fd)>& enter, ipc::Deadline deadline);

// For `enter`, before it executes the reaper. Sets what the backend gets, which
// the reaper makes final for it, and leaves the higher limit to the reaper.
// Descriptors in flight are counted by uid and compared with the limit of the
// process that sends one: a worker that floods its socket with them may keep
// itself from sending, but not the reaper of its uid.
Status LimitOpenFiles(const Limits& limits);

// Sends SIGKILL and waits for the end, which nothing can hold up but the
// kernel.
void KillAndReap(const ipc::UniqueFd& pidfd);

}  // namespace bulkhead::sandbox
