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

// Limits for a backend as a whole, by a cgroup (version 2) of its own for each
// of its lives, where somebody has delegated a place for it to this user:
//
//   const CgroupParent parent = FindCgroupParent(named);
//   ASSIGN_OR_RETURN(std::unique_ptr<Cgroup> cgroup,
//                    Cgroup::Create(parent, policy.limits));
//   RETURN_IF_ERROR(cgroup->Adopt(pid));  // before it runs anything
//
// Nobody but backends is moved, so that only two places will do: a directory
// that the operator names, or one delegated to us whose children have limits
// already, which is this process' own cgroup or the one above it.
//
// For bulkheadd's one thread. A backend sees no cgroup file system in tier
// full and may not write to one in tier reduced.

// What was found, and why it is not more.
struct CgroupParent {
  std::string directory;                 // empty: there is none to use
  std::vector<std::string> controllers;  // that limit: of memory, pids, cpu
  std::string mount;      // of cgroup version 2; empty: it is not mounted
  bool writable = false;  // this user can make directories in `mount`
  // What speaks against it, in words: of the directory, or of the controllers
  // that are not in `controllers`.
  std::string evidence;

  bool Has(const std::string& controller) const;
};

// `named`: absolute, or empty to have one looked for. In the directory that was
// named, controllers are switched on for its children where that is possible;
// nothing else is written. `root` is before every path that is read.
CgroupParent FindCgroupParent(const std::string& named,
                              const std::string& root = "");

// Ends and removes the cgroups below it whose bulkheadd is no more.
void RemoveStaleCgroups(const CgroupParent& parent);

// For Cgroup::Create, and its test.
Status WriteCgroupLimits(const std::string& directory,
                         const CgroupParent& parent, const Limits& limits);

// One life's. Destroying it kills whoever is left in it and removes it. If that
// takes longer than a moment, or this process is killed first, the next
// bulkheadd removes it: it is locked for as long as its owner lives.
class Cgroup {
 public:
  // kSandboxUnavailable: no such directory, or a limit is refused.
  static Result<std::unique_ptr<Cgroup>> Create(const CgroupParent& parent,
                                                const Limits& limits);
  // Of a directory that exists and is locked by `lock`.
  Cgroup(std::string directory, ipc::UniqueFd lock)
      : directory_(std::move(directory)), lock_(std::move(lock)) {}
  ~Cgroup();
  Cgroup(const Cgroup&) = delete;
  Cgroup& operator=(const Cgroup&) = delete;

  // Moves a process here; all that it starts is born here.
  Status Adopt(pid_t pid) const;
  // Of a process of it that was ended by SIGKILL: whether that was the kernel,
  // because this cgroup was at its limit of memory. Each of the kernel's kills
  // is told once, in whatever order they are asked about.
  bool TakeOutOfMemoryKill();

  const std::string& directory() const { return directory_; }

 private:
  const std::string directory_;
  const ipc::UniqueFd lock_;
  uint64_t kills_told_ = 0;
};

}  // namespace bulkhead::sandbox
