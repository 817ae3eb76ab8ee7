// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/records/killed_workers.h"

#include <utility>

#include "core/base/pidfd.h"

namespace bulkhead::records {

void KilledWorkers::Add(std::string backend, ipc::UniqueFd pidfd,
                        Clock::time_point now) {
  DropDead();
  if (killed_.size() >= kMaxWorkers) killed_.pop_front();
  killed_.push_back({std::move(backend), std::move(pidfd), now});
}

std::vector<KilledWorkers::Worker> KilledWorkers::WrittenOff(
    Clock::time_point now) {
  DropDead();
  std::vector<Worker> written_off;
  for (const Killed& killed : killed_) {
    if (now - killed.when < kPatience) break;  // All others were killed later.
    written_off.push_back(
        {.backend = killed.backend,
         .pid = PidOf(killed.pidfd.get()),
         .since = std::chrono::duration_cast<std::chrono::milliseconds>(
             now - killed.when)});
  }
  return written_off;
}

void KilledWorkers::DropDead() {
  std::erase_if(killed_, [](const Killed& killed) {
    return HasEnded(killed.pidfd.get());
  });
}

}  // namespace bulkhead::records
