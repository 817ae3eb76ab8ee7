// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bulkhead::sandbox {

// The limits on the number of tasks (processes and threads) that others have
// set over this process: of its cgroups and those above (pids.max), of its user
// (ulimit -u), and of the kernel. A hostile file in any backend or application
// below such a limit can use it up. Whatever fails then, for want of a thread,
// proves nothing about a backend or a file.
//
//   const TaskLimits limits;
//   policy.limits.tasks = std::min(policy.limits.tasks,
//                                  limits.ForOneBackend());
//   const uint64_t before = limits.Refusals();
//   ...
//   if (limits.WereUsedUp(before)) ...  // nobody is to blame
//
// Finds the cgroups once; whoever moves this process to another one is not
// noticed. Reads /proc and /sys each time. The figures change at any time;
// otherwise thread-safe.
class TaskLimits {
 public:
  // Tests give a `root` that replaces /.
  explicit TaskLimits(std::string root = "");

  // Returns the number of tasks that one backend may have so that another one
  // and the application go on. Never less than an honest backend needs.
  uint64_t ForOneBackend() const;
  // Returns how often the kernel has refused a task at the limit of a cgroup.
  // The other limits count nothing.
  uint64_t Refusals() const;
  // Returns whether a limit was reached since Refusals() was `before`, or has
  // next to no room now. Counts the tasks of this user, which takes time for
  // each process of the machine, only if these can have reached its limit.
  bool WereUsedUp(uint64_t before) const;
  // Returns the number of tasks that this user has.
  uint64_t TasksOfUser() const;

 private:
  std::string Text(const std::string& path) const;
  // Returns the number in a file, or UINT64_MAX if there is none.
  uint64_t Number(const std::string& path) const;
  // Returns the limit of this user, or UINT64_MAX if nothing limits it.
  static uint64_t LimitOfUser();
  uint64_t LimitOfKernel() const;
  uint64_t TasksOfMachine() const;

  const std::string root_;
  std::vector<std::string> cgroups_;  // directories with a pids.max
};

}  // namespace bulkhead::sandbox
