// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "core/include/bulkhead/status.h"

namespace bulkhead::sandbox {

// The state of one thread, as the kernel shows it in /proc/TID/status. The only
// thing in that file that the thread chooses is its name, which is not read.
struct ThreadStatus {
  pid_t process = 0;        // The process id, as this process sees it.
  pid_t inner_process = 0;  // The same, in the innermost pid namespace.
  pid_t parent = 0;         // The parent's process id, as this process sees it.
  int threads = 0;          // The number of threads of the process.
  uint64_t handled = 0;   // The signals with a handler: bit n - 1 is signal n.
  uint64_t blocked = 0;   // The signals that are blocked, in the same way.
  bool dead = false;      // The thread has ended, but is not yet reaped.
  bool filtered = false;  // The thread is in seccomp mode 2.
  bool no_new_privs = false;
  // The number of seccomp filters; nullopt before Linux 5.9, which does not
  // count them.
  std::optional<uint32_t> filters;
};

// Reads DIRECTORY/status. Returns nullopt if there is no such thread or no
// /proc.
std::optional<ThreadStatus> ReadThreadStatus(const std::string& directory);

// Returns the number of threads of a process; 0 if it has ended.
uint64_t CountThreads(int pidfd);

// Returns the number of filters that any process started from here inherits:
// those that, for instance, a container has put on this process.
uint32_t InheritedFilters();

// The number of filters that a lock-down installs (backends/worker/lockdown).
inline constexpr uint32_t kStage1Filters = 2;
inline constexpr uint32_t kStage2Filters = 4;  // Includes stage 1.

// Checks from outside that every thread of a process is bound by `filters`
// filters of a lock-down and cannot gain privileges, whatever the process says
// about itself. Fails with kSandboxUnavailable, naming what is missing, and
// with kBackendLost if the process has ended. A thread that starts during the
// check needs no check of its own: it inherits the filters of the thread that
// started it.
Status CheckEveryThread(int pidfd, uint32_t filters);

// Checks from outside that a session's worker handles the signals of faults
// (ipc::kFaults) and no others, and blocks none. Stage 2 permits no change. So
// the kernel never logs what is around a fault, and no handler interrupts a
// call that bulkheadd has not received yet. Fails as CheckEveryThread() does.
Status CheckSignals(int pidfd);

}  // namespace bulkhead::sandbox
