// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <poll.h>
#include <signal.h>

namespace bulkhead::tests {

// The signal that a held thread blocks. Nothing else blocks it alone, and the
// signals that a thread blocks are what everybody can see of it, also of a
// worker that has media (/proc/PID/status).
inline constexpr int kHeldSignal = 63;

// Waits until the process is killed. A test finds the process by held.h.
[[noreturn]] inline void Hold() {
  sigset_t held;
  ::sigemptyset(&held);
  ::sigaddset(&held, kHeldSignal);
  ::sigprocmask(SIG_SETMASK, &held, nullptr);
  for (;;) ::ppoll(nullptr, 0, nullptr, nullptr);
}

}  // namespace bulkhead::tests
