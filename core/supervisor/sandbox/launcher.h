// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "core/include/bulkhead/status.h"
#include "core/supervisor/sandbox/cgroup.h"
#include "core/supervisor/sandbox/policy.h"
#include "ipc/deadline.h"
#include "ipc/unique_fd.h"

namespace bulkhead::sandbox {

// Starts one backend: launches the reaper in a new sandbox, and the reaper then
// starts the zygote. contained_process.h describes the sandbox. In addition,
// the reaper has exactly the descriptors of ipc/descriptors.h, the environment
// TZ=UTC0, and one argument, its name.
//
//   LaunchRequest request{.tier = report.tier, .policy = policy, ...};
//   ASSIGN_OR_RETURN(LaunchedReaper reaper, Launch(request));
//   // The reaper then sends `started` with the zygote's pidfd over `control`.
//
// In tier full, the plugin may be a private copy (VisiblePath::contents). Then
// the zygote's descriptor of the plugin leads to this copy.
//
// The descriptors in a request are borrowed. The executables and the plugin may
// lie below directories that only root may enter, since they are passed as
// descriptors. With `outside_id`, however:
// - the modes of these files must let every user execute or read them;
// - in tier reduced, the backend opens all other visible paths by name, so it
//   cannot reach paths below such directories.
//
// Used by bulkheadd's one thread. Launch blocks that thread while the child
// sets itself up (some 10 ms), at most until `deadline`. Errors:
// kSandboxUnavailable (the machine refuses a step), kBackendUnavailable (the
// sandbox cannot read the plugin), kDeadlineExceeded, kResourceExhausted (too
// few descriptors, for example). After an error the child is dead and reaped.

struct LaunchRequest {
  Tier tier;  // kFull or kReduced.
  const Policy& policy;
  int reaper_executable;
  int worker_executable;
  int plugin;       // The shared object.
  int lockdown;     // The memfd from CompileLockdown.
  int application;  // A pidfd. When the application ends, the backend ends.
  // User and group id outside of the sandbox; only with SandboxReport::own_uid.
  std::optional<uint32_t> outside_id;
  // SandboxReport::cgroup; null if the backend gets no cgroup.
  const CgroupParent* cgroup = nullptr;
  ipc::Deadline deadline;
};

struct LaunchedReaper {
  // The pidfd of the reaper. Reap it with waitid(P_PIDFD) once the pidfd is
  // readable. In tier full, killing the reaper ends the whole backend. In tier
  // reduced, that would leave processes running: close `control` instead, and
  // the reaper ends the other processes first.
  ipc::UniqueFd pidfd;
  pid_t pid;
  // Sockets: bulkheadd sends requests and receives events. Everything that
  // comes from the zygote or the log is untrusted.
  ipc::UniqueFd control;         // schema::ReaperRequest, ReaperEvent.
  ipc::UniqueFd zygote_control;  // schema::ZygoteRequest, ZygoteEvent.
  ipc::UniqueFd log;             // Reads the backend's stderr; O_NONBLOCK.
  // The cgroup of the backend, or null if there is none. Destroying it kills
  // the processes that are left.
  std::unique_ptr<Cgroup> cgroup;
};

Result<LaunchedReaper> Launch(const LaunchRequest& request);

// Returns an `outside_id` for a backend. No other process should have this id:
// it is above the range that Linux distributions and containers assign (up to
// 0x6fffffff). It differs for 32 consecutive values of `backend`, and for each
// `supervisor`, the pid of bulkheadd.
uint32_t OutsideId(pid_t supervisor, unsigned backend);

}  // namespace bulkhead::sandbox
