// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/include/bulkhead/status.h"
#include "core/supervisor/sandbox/policy.h"
#include "ipc/unique_fd.h"

namespace bulkhead::sandbox {

// Limits the processes of a backend together with a cgroup (version 2). Each
// incarnation gets a new cgroup. This is possible only if somebody has
// delegated a cgroup directory to this user:
//
//   const CgroupParent parent = FindCgroupParent(named);
//   ASSIGN_OR_RETURN(std::unique_ptr<Cgroup> cgroup,
//                    Cgroup::Create(parent, policy.limits));
//   RETURN_IF_ERROR(cgroup->Adopt(pid));  // Before it runs anything.
//
// Only backends are moved to other cgroups, never the application or bulkheadd.
// So only two kinds of directory can be used: one that the operator names, and
// one that is delegated to this user and whose children have limits already.
// The second kind can be the cgroup of this process or its parent.
//
// Used by bulkheadd's one thread. A backend sees no cgroup file system in tier
// full and may not write to it in tier reduced.

// The directory in which the cgroups of backends are made, and the reason if
// there is none or if it lacks a controller.
struct CgroupParent {
  std::string directory;                 // Empty if no directory can be used.
  std::vector<std::string> controllers;  // In force: memory, pids or cpu.
  std::string mount;      // Where cgroup version 2 is mounted, or empty.
  bool writable = false;  // This user can make directories in `mount`.
  // For operators: why there is no directory, or why `controllers` lacks some.
  std::string evidence;

  bool Has(const std::string& controller) const;
};

// Finds the directory for the cgroups of backends. `named` is the absolute path
// of a directory that the operator chose, or empty to look for one. Switches on
// the controllers for the children of a named directory if possible, and writes
// nothing else. Tests give a `root` that replaces /.
CgroupParent FindCgroupParent(const std::string& named,
                              const std::string& root = "");

// Kills the processes of the cgroups in `parent` whose bulkheadd has died, and
// removes these cgroups. Waits a moment for the processes to end; the next
// bulkheadd removes what is left.
void RemoveStaleCgroups(const CgroupParent& parent);

// Writes `limits` to the cgroup `directory`. Used by Cgroup::Create and its
// test.
Status WriteCgroupLimits(const std::string& directory,
                         const CgroupParent& parent, const Limits& limits);

// The cgroup of one incarnation of a backend. The destructor kills the
// processes that are left in the cgroup, and removes the cgroup if they have
// ended. It does not wait for them, because a driver may hold a process in the
// kernel for any time. An owner that can wait calls Remove() until it returns
// true (core/supervisor/backend/ending_reapers.h). Otherwise the next bulkheadd
// removes the cgroup, once the lock shows that the owner is dead.
class Cgroup {
 public:
  // Makes a cgroup. Fails with kSandboxUnavailable if the directory cannot be
  // made or a limit is refused.
  static Result<std::unique_ptr<Cgroup>> Create(const CgroupParent& parent,
                                                const Limits& limits);
  // Adopts an existing directory, which `lock` locks.
  Cgroup(std::string directory, ipc::UniqueFd lock)
      : directory_(std::move(directory)), lock_(std::move(lock)) {}
  ~Cgroup() { (void)Remove(); }
  Cgroup(const Cgroup&) = delete;
  Cgroup& operator=(const Cgroup&) = delete;

  // Moves a process into the cgroup. Every process that it starts from then on
  // is in the cgroup too.
  Status Adopt(pid_t pid) const;
  // Kills the processes that are left. Returns true if they have ended and the
  // cgroup is removed. Does not wait.
  bool Remove() const;
  // Call it once for each process of this cgroup that SIGKILL ended. Returns
  // whether the kernel killed it because the cgroup was at its memory limit.
  // The kernel reports only how many processes it killed, so each call that
  // finds a kill uses it up, also if the whole machine was out of memory
  // (false).
  bool TakeOutOfMemoryKill();

  const std::string& directory() const { return directory_; }

 private:
  const std::string directory_;
  const ipc::UniqueFd lock_;
  uint64_t kills_reported_ = 0;
};

}  // namespace bulkhead::sandbox
