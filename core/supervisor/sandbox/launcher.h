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

// Starts one backend: the reaper, alone in its sandbox, which then starts the
// zygote. What the child is by the time its first instruction runs is in
// contained_process.h; on top of that it has the descriptors of
// ipc/descriptors.h and no other, the environment TZ=UTC0, and one argument.
//
//   LaunchRequest request{.tier = report.tier, .policy = policy, ...};
//   ASSIGN_OR_RETURN(LaunchedReaper reaper, Launch(request));
//   // On reaper.control: `started` with the zygote's pidfd.
//
// Descriptors in a request are borrowed. The executables may lie below
// directories that only root may enter, since they are passed open, but must
// themselves be executable for everybody where `outside_id` is given, as the
// plugin's files must be readable.
//
// For bulkheadd's one thread, which it blocks while the child sets itself up
// (some 10 ms) and by `deadline` at most. Failure is kSandboxUnavailable
// (this machine cannot), kBackendUnavailable (the plugin is not readable for
// its sandbox) or kDeadlineExceeded; nothing is left of the child.

struct LaunchRequest {
  Tier tier;  // kFull or kReduced
  const Policy& policy;
  int reaper_executable;
  int worker_executable;
  int plugin;       // the shared object
  int lockdown;     // from CompileLockdown
  int application;  // pidfd; the backend ends when it becomes readable
  // Ids outside of the sandbox; only with SandboxReport::own_uid.
  std::optional<uint32_t> outside_id;
  // SandboxReport::cgroup; null: it gets none.
  const CgroupParent* cgroup = nullptr;
  ipc::Deadline deadline;
};

struct LaunchedReaper {
  // To be reaped with waitid(P_PIDFD) once readable. Killing it ends the whole
  // backend in tier full; in tier reduced close `control` instead, and the
  // reaper ends the others first.
  ipc::UniqueFd pidfd;
  pid_t pid;
  ipc::UniqueFd control;         // schema::ReaperRequest, ReaperEvent
  ipc::UniqueFd zygote_control;  // schema::ZygoteRequest, ZygoteEvent: hostile
  ipc::UniqueFd log;             // what they write to 2: hostile; O_NONBLOCK
  // Null where there can be none. Destroying it kills what is left.
  std::unique_ptr<Cgroup> cgroup;
};

Result<LaunchedReaper> Launch(const LaunchRequest& request);

// A uid and gid that nobody else has: outside of what Linux distributions and
// containers assign (up to 0x6fffffff), another for each of 32 consecutive
// backends of one bulkheadd, another for each bulkheadd.
uint32_t OutsideId(pid_t supervisor, unsigned backend);

}  // namespace bulkhead::sandbox
