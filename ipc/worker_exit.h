// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>

#include <optional>

namespace bulkhead::ipc {

// The exit code by which a worker reports that its device is lost. No process
// of a backend is to blame for a lost device. A hostile worker that lies gains
// nothing: bulkheadd only waits for that worker's own device.
inline constexpr int kExitDeviceLost = 3;

// The exit code of a clone whose memory cannot be limited or whose stage 2
// cannot be installed. It has met no media and says why on stderr.
inline constexpr int kExitLockdown = 5;

// The signals of faults. A handler in each process of a backend takes them and
// ends the process with ExitOfFault(). The process does not die of the signal,
// since the kernel would log the bytes around the fault. Whoever lies with such
// a code could as well cause the fault.
inline constexpr int kFaults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
constexpr int ExitOfFault(int signal) { return 128 + signal; }

// Returns the fault that an exit code reports, or nullopt if it is none.
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
