// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <optional>

namespace bulkhead::tests {

// Returns whether Hold() of hold.h holds the process, as a fault `hang` does.
bool IsHeld(pid_t pid);

// Waits until `root` or a descendant of it is held and returns its pid. A test
// then knows that the process is at exactly the step at which the test wants to
// kill it. Returns nullopt if there is none within `limit` or if stop() returns
// true.
std::optional<pid_t> AwaitHeld(pid_t root, std::chrono::milliseconds limit,
                               const std::function<bool()>& stop = {});

}  // namespace bulkhead::tests
