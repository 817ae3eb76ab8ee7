// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <optional>

namespace bulkhead::tests {

// Whether a fault `hang` holds it: it waits for no descriptor, without an end,
// which nothing else here does.
bool IsHeld(pid_t pid);

// A descendant that is held, once there is one. nullopt: none before the time
// was over, or `stop` said so. By it a test knows that a process is at the very
// step at which it is to be killed.
std::optional<pid_t> AwaitHeld(pid_t root, std::chrono::milliseconds limit,
                               const std::function<bool()>& stop = {});

}  // namespace bulkhead::tests
