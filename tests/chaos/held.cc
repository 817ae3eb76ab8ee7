// SPDX-License-Identifier: Apache-2.0
#include "tests/chaos/held.h"

#include <fstream>
#include <string>

#include "tests/chaos/hold.h"
#include "tests/support/process_watch.h"

namespace bulkhead::tests {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// bound: the pause between two looks at the processes.
constexpr milliseconds kPause{1};

}  // namespace

bool IsHeld(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/status");
  bool sleeps = false;
  int threads = 0;
  for (std::string key; file >> key;) {
    if (key == "State:") {
      // A process that was killed may have its threads yet, but does not sleep.
      file >> key;
      sleeps = key == "S";
    } else if (key == "Threads:") {
      file >> threads;
    }
  }
  return sleeps && threads >= kHeldThreads;
}

std::optional<pid_t> AwaitHeld(pid_t root, milliseconds limit,
                               const std::function<bool()>& stop) {
  const auto end = Clock::now() + limit;
  const ProcessWatch root_watch(root);
  while (Clock::now() < end && !(stop && stop())) {
    if (IsHeld(root)) return root;
    for (const pid_t pid : DescendantsOf(root)) {
      if (IsHeld(pid)) return pid;
    }
    if (root_watch.AwaitEnd(kPause)) return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace bulkhead::tests
