// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bulkhead::backend {

// Divides the tasks (processes and threads) of a backend among its workers. The
// kernel counts the tasks of all together (sandbox::Limits::tasks), so one
// worker can use up the tasks of all others. Nothing happens as long as there
// are enough. Once a worker lacks tasks, the workers that have more than their
// share are ended, the largest first, until there is room.
//
//     const TaskShares shares(limit, processors);
//     if (shares.AreUsedUp(tasks)) for (size_t i : shares.ToEnd(tasks)) ...
//
// `tasks` has the number of tasks of each worker. A worker's share is
//
//     max(usable / max(workers, 2), kLeastShare, 2 * processors)
//
// The last two arguments are the tasks that an honest decoder needs. So honest
// workers are not ended, even if there are too many.
class TaskShares {
 public:
  // The number of tasks that must be left. A decoder starts at most 64 threads
  // by itself.
  static constexpr uint64_t kRoom = 128;
  // The smallest share of a worker.
  static constexpr uint64_t kLeastShare = 32;

  TaskShares(uint64_t limit, uint64_t processors)
      : limit_(limit), processors_(processors) {}

  // Returns whether fewer than kRoom tasks are left for workers.
  bool AreUsedUp(const std::vector<uint64_t>& tasks) const;
  // Returns the indices of the workers that are to be ended.
  std::vector<size_t> ToEnd(const std::vector<uint64_t>& tasks) const;

 private:
  // Returns how many tasks the workers may have together. The rest is for the
  // zygote and for health checks.
  uint64_t usable() const { return limit_ - limit_ / 4; }
  bool IsUsedUp(uint64_t total) const { return total + kRoom > usable(); }

  const uint64_t limit_;
  const uint64_t processors_;
};

}  // namespace bulkhead::backend
