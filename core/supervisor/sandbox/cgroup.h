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
// So only these directories can be used:
// - a directory that the operator names;
// - the cgroup of this process or its parent cgroup, if that is delegated to
//   this user and its children have limits already.
//
// Used by bulkheadd's one thread. A backend sees no cgroup file system in tier
// full and may not write to it in tier reduced.

// The directory in which the cgroups of backends are made. If there is no
// directory or it lacks a controller, `evidence` says why.
struct CgroupParent {
  std::string directory;                 // Empty if no directory can be used.
  std::vector<std::string> controllers;  // In force below: memory, pids, cpu.
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
// true (core/supervisor/backend/ending_reapers.h). If nobody does, the next
// bulkheadd removes the cgroup. It recognises a dead owner by the flock() on
// the directory, which the kernel releases when the owner dies.
class Cgroup {
 public:
  // Makes a cgroup. Fails with kSandboxUnavailable if the directory cannot be
  // made or a limit is refused.
  static Result<std::unique_ptr<Cgroup>> Create(const CgroupParent& parent,
                                                const Limits& limits);
  // Takes over an existing cgroup. `lock` is its open directory, with flock().
  Cgroup(std::string directory, ipc::UniqueFd lock)
      : directory_(std::move(directory)), lock_(std::move(lock)) {}
  ~Cgroup() { (void)Remove(); }
  Cgroup(const Cgroup&) = delete;
  Cgroup& operator=(const Cgroup&) = delete;

  // Moves a process into the cgroup. Every process that this process starts
  // afterwards is in the cgroup too.
  Status Adopt(pid_t pid) const;
  // Kills the processes that are left. Returns true if they have ended and the
  // cgroup is removed. Does not wait.
  bool Remove() const;
  // Returns whether the kernel's OOM killer has ended one more process since
  // the last call, because this cgroup was at its memory limit. Returns false
  // if the whole machine was out of memory. Call it once for each process of
  // the cgroup that SIGKILL ended: the kernel reports only the number of kills
  // and no pids, so each call uses up one kill.
  bool TakeOutOfMemoryKill();

  const std::string& directory() const { return directory_; }

 private:
  const std::string directory_;
  const ipc::UniqueFd lock_;
  uint64_t kills_reported_ = 0;
};

}  // namespace bulkhead::sandbox
