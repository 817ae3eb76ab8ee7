// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "core/include/bulkhead/status.h"

namespace bulkhead::sandbox {

// The state of one thread, as the kernel shows it in /proc/TID/status. A
// hostile thread controls only one line of that file, its name, which is not
// read.
struct ThreadStatus {
  pid_t process = 0;        // The process id, as this process sees it.
  pid_t inner_process = 0;  // The process id in its own pid namespace.
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

// Reads the file "status" in a directory such as "/proc/17/task/18". Returns
// nullopt if the thread has ended or /proc cannot be read.
std::optional<ThreadStatus> ReadThreadStatus(const std::string& directory);

// Returns the number of threads of a process; 0 if it has ended.
uint64_t CountThreads(int pidfd);

// Returns the number of seccomp filters that this process already has, for
// instance from a container, and that each backend therefore inherits.
uint32_t InheritedFilters();

// The number of filters that a lock-down installs (backends/worker/lockdown).
inline constexpr uint32_t kStage1Filters = 2;
inline constexpr uint32_t kStage2Filters = 4;  // Includes stage 1.

// Checks in /proc, which the process cannot forge, that each of its threads has
// at least `filters` filters of a lock-down and cannot gain privileges. Fails
// with kSandboxUnavailable, naming what is missing, and with kBackendLost if
// the process has ended. A thread that starts during the check needs no check:
// it inherits the filters of the thread that started it.
Status CheckEveryThread(int pidfd, uint32_t filters);

// Checks in /proc that a session's worker has handlers for exactly the signals
// of faults (ipc::kFaults), and blocks no signal. Stage 2 forbids later
// changes. So the kernel never logs the bytes around a fault, and no handler
// can interrupt a system call before bulkheadd is notified of it. Fails with
// the codes of CheckEveryThread().
Status CheckSignals(int pidfd);

}  // namespace bulkhead::sandbox
