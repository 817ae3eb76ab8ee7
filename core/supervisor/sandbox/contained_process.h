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

// StartContained() clones the calling process into a sandbox and runs `enter`
// in the child. When `enter` starts, the child has:
//
//   - in tier full: six new namespaces, a root directory of its own
//     (new_root.h), a host name of its own where possible, and the parent-death
//     signal, which kills it when the caller's thread ends;
//   - the given cgroup, whose limits hold from the start;
//   - the working directory /;
//   - `outside_id` as user and group id if given (needs root), else the
//     caller's ids, as seen from outside of the sandbox;
//   - no supplementary groups, if the caller has the privilege to drop them;
//   - a POSIX session of its own (setsid), no core dumps, and default signal
//     handlers;
//   - the policy's resource limits, except those of SetProgramLimits();
//   - no capability in any set, and no_new_privs.
//
// Seccomp and Landlock come last: the program that `enter` starts installs
// them.
//
// `enter` gets the child's end of a socket pair as `setup_fd`. It does one of
// three things: it replaces the process (execve), which closes `setup_fd`; it
// calls _exit(0); or it returns the reason why it could do neither.
//
// The child runs on a copy of the caller's heap. That is sound only because the
// caller has a single thread, and cheap only because its heap is small.
//
// The caller blocks until `enter` has done one of the three, at most until
// `deadline`. A failure is kSandboxUnavailable (the message names the step),
// kDeadlineExceeded or kResourceExhausted; the child is then dead and reaped.
// The caller must reap a child that started, with waitid(P_PIDFD), and must not
// ignore SIGCHLD, which is the child's exit signal.

struct Containment {
  Tier tier;  // kFull or kReduced.
  const Policy& policy;
  std::optional<uint32_t> outside_id;  // The ids outside of the sandbox.
  const Cgroup* cgroup = nullptr;      // Null if there is none.
};

struct ContainedProcess {
  ipc::UniqueFd pidfd;
  pid_t pid;
};

Result<ContainedProcess> StartContained(
    const Containment& containment,
    const std::function<Status(int setup_fd)>& enter, ipc::Deadline deadline);

// Ends the child in which it is called, and makes the parent's StartContained()
// return `failure`. `enter` may call this instead of returning.
[[noreturn]] void EndWithReason(int setup_fd, const Status& failure);

// Sets the limits of address space and of open files. `enter` calls this right
// before it executes the reaper, and not earlier: a clone of bulkheadd may
// exceed these limits (with a sanitizer, terabytes of address space).
//
// Sets only the soft limit of open files. The reaper lowers the hard limit of
// the zygote and the workers to it, and keeps the higher hard limit for itself.
// The reason: the kernel counts descriptors in flight for each user id, and
// compares the count with the limit of the sending process. So a worker that
// floods its socket with descriptors can soon send no more, but the reaper,
// which may have the same user id, still can.
Status SetProgramLimits(const Limits& limits);

// Returns whether this process has the host name that StartContained() sets in
// tier full. A container may refuse to set it. Call it in `enter`.
bool HasOwnHostName();

// Sends SIGKILL, waits for the end of the process, and reaps it. Has no
// deadline: only the kernel can delay the end.
void KillAndReap(const ipc::UniqueFd& pidfd);

}  // namespace bulkhead::sandbox
