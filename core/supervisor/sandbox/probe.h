// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/supervisor/sandbox/bpf.h"
#include "core/supervisor/sandbox/cgroup.h"
#include "core/supervisor/sandbox/gaps.h"
#include "core/supervisor/sandbox/policy.h"
#include "ipc/deadline.h"

namespace bulkhead::sandbox {

// What this machine can enforce, found out by doing it: a child is started
// under namespaces, a new root, Landlock and seccomp, exactly as a backend is,
// and ends. That a call such as unshare() succeeds proves little, as some
// systems grant the namespace and refuse everything inside it.
struct SandboxReport {
  Tier tier = Tier::kNone;
  // Why it is not full, and what full lacks here.
  std::vector<SandboxGap> gaps;
  uint32_t landlock_abi = 0;  // 0: none
  // Backends can run under ids that are not the application's.
  bool own_uid = false;
  // Whether a forbidden system call can be told by its name.
  Forbidden forbidden = Forbidden::kKill;
  // Where each life of a backend gets a cgroup of its own; one was tried.
  CgroupParent cgroup;
};

// Takes some 20 ms; blocks its caller by `deadline` at most. The caller has a
// single thread. `cgroup` is the directory that the operator named for the
// backends' cgroups; empty: one is looked for. What dead ones left there is
// removed.
SandboxReport ProbeSandbox(ipc::Deadline deadline,
                           const std::string& cgroup = "");

}  // namespace bulkhead::sandbox
