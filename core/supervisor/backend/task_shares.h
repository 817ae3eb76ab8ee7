// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bulkhead::backend {

// Divides the tasks of a backend (sandbox::Limits::tasks) among its workers.
// The kernel counts the tasks of all together, so one worker can use up the
// tasks of all others. Nothing happens as long as there are enough. Once a
// worker lacks some, the workers that have more than their share are ended,
// those with most tasks first, until there is room.
//
//     const TaskShares shares(limit, processors);
//     if (shares.AreUsedUp(tasks)) for (size_t i : shares.ToEnd(tasks)) ...
//
// `tasks` are the numbers of tasks of each worker. The share of a worker is an
// equal part of what workers may have, and never less than an honest decoder
// needs: where honest workers are too many, none is ended.
class TaskShares {
 public:
  // How many tasks must be left for others. A decoder starts 64 threads at most
  // by itself.
  static constexpr uint64_t kRoom = 128;
  static constexpr uint64_t kLeastShare = 32;

  TaskShares(uint64_t limit, uint64_t processors)
      : limit_(limit), processors_(processors) {}

  bool AreUsedUp(const std::vector<uint64_t>& tasks) const;
  // Returns the indices of the workers that are to be ended.
  std::vector<size_t> ToEnd(const std::vector<uint64_t>& tasks) const;

 private:
  // Returns how many tasks the workers may have together. The zygote keeps the
  // rest.
  uint64_t usable() const { return limit_ - limit_ / 4; }
  bool IsUsedUp(uint64_t total) const { return total + kRoom > usable(); }

  const uint64_t limit_;
  const uint64_t processors_;
};

}  // namespace bulkhead::backend
