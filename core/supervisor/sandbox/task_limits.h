// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bulkhead::sandbox {

// The limits on the number of tasks (processes and threads) to which this
// process is subject: of its cgroup and the cgroups above (pids.max), of its
// user (ulimit -u), and of the kernel. A hostile file in any backend or
// application under the same limit can use the limit up. A backend or file that
// then fails because no thread can start is not to blame.
//
//   const TaskLimits limits;
//   policy.limits.tasks = std::min(policy.limits.tasks,
//                                  limits.ForOneBackend());
//   const uint64_t before = limits.Refusals();
//   ...
//   if (limits.WereUsedUp(before)) ...  // nobody is to blame
//
// Finds the cgroups once, in the constructor, and does not notice if this
// process is moved to another cgroup. All other figures are read from /proc and
// /sys in each call. Thread-safe.
class TaskLimits {
 public:
  // Tests give a `root` that replaces /.
  explicit TaskLimits(std::string root = "");

  // Returns the number of tasks that one backend may have: half of the lowest
  // limit, so that enough remain for another backend and the application, but
  // at least as many as an honest backend needs.
  uint64_t ForOneBackend() const;
  // Returns how often the kernel has refused a task because a cgroup was at its
  // limit. The kernel does not count refusals at the other limits.
  uint64_t Refusals() const;
  // Returns whether a cgroup has refused a task since Refusals() returned
  // `before`, or any limit has almost no room now. Calls TasksOfUser() only if
  // the machine has so many tasks that the user may be near the limit.
  bool WereUsedUp(uint64_t before) const;
  // Returns the number of tasks that this user has. Slow: reads a file in /proc
  // for each process of the machine.
  uint64_t TasksOfUser() const;

 private:
  std::string Text(const std::string& path) const;
  // Returns the number in a file, or UINT64_MAX if the file has none ("max").
  uint64_t Number(const std::string& path) const;
  // Returns the limit of this user, or UINT64_MAX if there is none.
  static uint64_t LimitOfUser();
  uint64_t LimitOfKernel() const;
  uint64_t TasksOfMachine() const;

  const std::string root_;
  std::vector<std::string> cgroups_;  // directories with a pids.max
};

}  // namespace bulkhead::sandbox
