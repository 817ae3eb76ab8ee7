// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/include/bulkhead/status.h"
#include "core/supervisor/sandbox/bpf.h"
#include "core/supervisor/sandbox/cgroup.h"
#include "core/supervisor/sandbox/gaps.h"
#include "core/supervisor/sandbox/policy.h"
#include "ipc/deadline.h"

namespace bulkhead::sandbox {

// The sandbox that this machine can enforce. ProbeSandbox() finds out by making
// one: it starts a child under namespaces, a new root, Landlock and seccomp, in
// the same way as a backend, and the child ends at once. It would not be enough
// to test whether a call such as unshare() succeeds: some systems allow a
// namespace and refuse everything inside it.
struct SandboxReport {
  Tier tier = Tier::kNone;
  // The parts of the sandbox that this machine lacks, in tier full too.
  std::vector<SandboxGap> gaps;
  uint32_t landlock_abi = 0;  // 0 if the kernel has no Landlock.
  // True if backends can run with a user id that is not the application's.
  bool own_uid = false;
  // kNotify if bulkheadd can learn which call was forbidden, otherwise kKill.
  Forbidden forbidden = Forbidden::kKill;
  // True if bulkheadd can read the filters that a backend installs
  // (expected_calls.h).
  bool reads_memory = false;
  // The directory in which each incarnation of a backend gets a cgroup. The
  // probe has made and used one there.
  CgroupParent cgroup;
  // Not OK if memory, processes, descriptors or the time until the deadline ran
  // out. A later probe may then find more.
  Status exhausted;
};

// Probes the machine. Takes some 20 ms and blocks the caller, at most until
// `deadline`. The caller must have a single thread, since the child runs on a
// copy of its memory. `cgroup` is the directory that the operator named for the
// cgroups of backends; if it is empty, the function looks for a directory.
// Cgroups that a dead bulkheadd left there are removed.
SandboxReport ProbeSandbox(ipc::Deadline deadline,
                           const std::string& cgroup = "");

}  // namespace bulkhead::sandbox
