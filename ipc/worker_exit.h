// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>

#include <optional>

namespace bulkhead::ipc {

// The exit code by which a worker reports that its device is lost
// (BULKHEAD_DEVICE_LOST). The loss of a device is not the backend's fault. A
// hostile worker gains nothing by a false report: bulkheadd only waits for that
// worker's own device.
inline constexpr int kExitDeviceLost = 3;

// The exit code of a clone whose memory cannot be limited or whose stage 2
// cannot be installed. The clone has received no media, and has written the
// reason to stderr.
inline constexpr int kExitLockdown = 5;

// The signals of faults. A handler in each process of a backend catches them
// and ends the process with the code ExitOfFault(). The process must not die of
// the signal, since the kernel would log the bytes around the fault. A hostile
// process can exit with such a code without a fault, but it could cause the
// fault as well.
inline constexpr int kFaults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
constexpr int ExitOfFault(int signal) { return 128 + signal; }

// Returns the signal of the fault that an exit code reports, or nullopt if it
// reports none.
constexpr std::optional<int> FaultOf(int exit_code) {
  for (const int signal : kFaults) {
    if (exit_code == ExitOfFault(signal)) return signal;
  }
  return std::nullopt;
}

// The exit code by which a worker reports that its backend failed, though the
// file may be sound (BULKHEAD_FAILED).
inline constexpr int kExitBackendFailed = 6;

}  // namespace bulkhead::ipc
