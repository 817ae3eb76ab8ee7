// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits.h>
#include <poll.h>
#include <pthread.h>

namespace bulkhead::tests {

// How many threads a held process has at least; nothing else has as many. Their
// number is what everybody can see of a process, also of a worker that has
// media (/proc/PID/status), and that it can choose.
inline constexpr int kHeldThreads = 40;

// Waits until the process is killed. A test finds the process by held.h.
[[noreturn]] inline void Hold() {
  const auto wait = [](void*) -> void* {
    for (;;) ::ppoll(nullptr, 0, nullptr, nullptr);
  };
  pthread_attr_t small;
  ::pthread_attr_init(&small);
  ::pthread_attr_setstacksize(&small, 4 * PTHREAD_STACK_MIN);
  for (int i = 1; i < kHeldThreads; ++i) {
    pthread_t thread;
    ::pthread_create(&thread, &small, wait, nullptr);
  }
  for (;;) ::ppoll(nullptr, 0, nullptr, nullptr);
}

}  // namespace bulkhead::tests
