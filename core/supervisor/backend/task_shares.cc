// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/backend/task_shares.h"

#include <algorithm>
#include <numeric>

namespace bulkhead::backend {

bool TaskShares::AreUsedUp(const std::vector<uint64_t>& tasks) const {
  return IsUsedUp(std::accumulate(tasks.begin(), tasks.end(), uint64_t{0}));
}

std::vector<size_t> TaskShares::ToEnd(
    const std::vector<uint64_t>& tasks) const {
  std::vector<size_t> by_tasks(tasks.size());
  std::iota(by_tasks.begin(), by_tasks.end(), size_t{0});
  std::stable_sort(by_tasks.begin(), by_tasks.end(),
                   [&](size_t a, size_t b) { return tasks[a] > tasks[b]; });
  const uint64_t share =
      std::max({kLeastShare, 2 * processors_,
                usable() / std::max<uint64_t>(tasks.size(), 2)});
  uint64_t left = std::accumulate(tasks.begin(), tasks.end(), uint64_t{0});
  std::vector<size_t> to_end;
  for (const size_t worker : by_tasks) {
    if (!IsUsedUp(left) || tasks[worker] <= share) break;
    left -= tasks[worker];
    to_end.push_back(worker);
  }
  return to_end;
}

}  // namespace bulkhead::backend
