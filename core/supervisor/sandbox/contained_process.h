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

// Clones the calling process into a sandbox and runs `enter` there. When
// `enter` starts, the child has:
//
//   - in tier full: six new namespaces, the root of new_root.h, no host name,
//     and the parent-death signal that ends it with the caller's thread;
//   - the cgroup that was given, so that its limits hold from the start;
//   - the working directory /;
//   - the ids of `outside_id` if given (needs root), else the caller's;
//     no supplementary groups if they can be dropped (an unprivileged caller
//     cannot);
//   - a session of its own, no core dumps, default signal handlers, and every
//     limit but the ones that SetProgramLimits sets;
//   - no capability in any set, and no_new_privs.
//
// Seccomp and Landlock come last, from the program that `enter` starts.
//
// `enter` either replaces the process (execve), which closes `setup_fd`, or
// calls _exit(0), or returns why it could not. The child runs on a copy of the
// caller's heap. That is sound only because the caller has a single thread, and
// cheap only because its heap is small.
//
// The caller blocks until `enter` has done one of the three, at most until
// `deadline`. Fails with kSandboxUnavailable (the message names the step),
// kDeadlineExceeded or kResourceExhausted; the child is then dead and reaped.
// The caller must reap a child that started, with waitid(P_PIDFD). The exit
// signal of the child is SIGCHLD, so the disposition of SIGCHLD must not be
// SIG_IGN.

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

// For `enter`, or in its place: says to the caller of StartContained why the
// child failed, and ends the child.
[[noreturn]] void EndWithReason(int setup_fd, const Status& failure);

// For `enter`, right before it executes the reaper: sets the limits of what
// the child has inherited from bulkheadd, and which only the exec gives up: the
// address space, of which bulkheadd may have more than a backend may (with a
// sanitizer, it has terabytes), and open files.
//
// Only the soft limit of open files is set. The reaper makes it final for
// the backend's processes and keeps the higher hard limit for itself: the
// kernel counts descriptors in flight per user id and compares the count with
// the limit of the sending process, so a worker that floods its socket with
// descriptors may stop itself from sending, but not the reaper with the same
// user id.
Status SetProgramLimits(const Limits& limits);

// For `enter` too: returns whether this process has the host name that a
// sandbox of tier full gives itself, which containers may refuse.
bool HasOwnHostName();

// Sends SIGKILL and waits for the end of the process, which only the kernel can
// delay.
void KillAndReap(const ipc::UniqueFd& pidfd);

}  // namespace bulkhead::sandbox
