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

// Limits a backend as a whole with a cgroup (version 2), a new one for each
// incarnation. This is possible only if somebody has delegated a cgroup
// directory to this user:
//
//   const CgroupParent parent = FindCgroupParent(named);
//   ASSIGN_OR_RETURN(std::unique_ptr<Cgroup> cgroup,
//                    Cgroup::Create(parent, policy.limits));
//   RETURN_IF_ERROR(cgroup->Adopt(pid));  // Before it runs anything.
//
// Only backends are moved to other cgroups, never the application or bulkheadd.
// So only two kinds of directory can be used: a directory that the operator
// names, and a directory that is delegated to us and whose children have limits
// already. The second kind can be this process' own cgroup or its parent.
//
// Used by bulkheadd's one thread. A backend sees no cgroup file system in tier
// full and may not write to one in tier reduced.

// The directory that was found for the cgroups of backends and, if it offers
// less than it could, the reason.
struct CgroupParent {
  std::string directory;                 // Empty if no directory can be used.
  std::vector<std::string> controllers;  // In force: memory, pids or cpu.
  std::string mount;      // Where cgroup version 2 is mounted, or empty.
  bool writable = false;  // This user can make directories in `mount`.
  // The reason why there is no directory, or why some controllers are not in
  // `controllers`; for the operator.
  std::string evidence;

  bool Has(const std::string& controller) const;
};

// Finds the directory for the cgroups of backends. `named` is the absolute path
// of a directory that the operator chose, or empty to look for one. In a named
// directory the controllers are switched on for its children if possible;
// nothing else is written. Tests give a `root` that replaces /.
CgroupParent FindCgroupParent(const std::string& named,
                              const std::string& root = "");

// Ends and removes the cgroups in `parent` whose bulkheadd has died. Waits for
// the processes in them for a moment, whatever their number; the next bulkheadd
// removes what is left.
void RemoveStaleCgroups(const CgroupParent& parent);

// Writes `limits` to the cgroup `directory`. Used by Cgroup::Create and its
// test.
Status WriteCgroupLimits(const std::string& directory,
                         const CgroupParent& parent, const Limits& limits);

// The cgroup of one incarnation of a backend. Destroying the object kills the
// processes that are left in the cgroup, and removes the cgroup if they have
// ended. It does not wait for them, because a driver may hold a process in the
// kernel for any time: whoever has time calls Remove() until it returns true
// (core/supervisor/backend/ending_reapers.h). The next bulkheadd removes what
// is left: a lock marks the cgroup as used for as long as its owner lives.
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
  // Kills the processes that are left. Returns true if the cgroup is removed,
  // which takes until they have ended. Does not wait.
  bool Remove() const;
  // Returns whether the kernel killed a process of this cgroup because the
  // cgroup was at its limit of memory. Ask once for each process that SIGKILL
  // ended: each of the kernel's kills is reported once, in whatever order the
  // processes are asked about.
  bool TakeOutOfMemoryKill();

  const std::string& directory() const { return directory_; }

 private:
  const std::string directory_;
  const ipc::UniqueFd lock_;
  uint64_t kills_told_ = 0;
};

}  // namespace bulkhead::sandbox
