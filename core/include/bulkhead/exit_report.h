// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bulkhead {

// Describes how a worker process ended. Attached to the Status of a call that
// failed because of that end. The facts come from the kernel, the reaper and
// Bulkhead's own record of the processes it killed. Only the members whose
// names begin with `claimed` come from the process that died, which may lie. A
// plain value.
struct ExitReport {
  enum class Kind : uint8_t {
    kUnknown,            // Nobody could learn how the process ended.
    kExited,             // `value` is the exit code.
    kSignaled,           // `value` is the signal.
    kSandboxViolation,   // Killed for a system call that the sandbox forbids.
    kDeadline,           // Killed by Bulkhead: a step took too long.
    kProtocolViolation,  // Killed by Bulkhead: a message was not allowed, or
                         // the backend broke bulkhead_backend.h.
    kOutOfMemory,        // The backend was at the limit of its memory.
  };

  std::string backend;
  std::string device;
  Kind kind = Kind::kUnknown;
  int value = 0;
  // The position in the input, in words: "clip.mp4, frame 37".
  std::string position;
  // The number of the crash record (crashes.h); 0 if there is none.
  uint64_t crash = 0;

  // The members up to `stage` describe a kSandboxViolation.

  // True if the kernel reported the system call, so that the next three members
  // are facts. False if the call is not known; the three are then empty.
  bool syscall_trusted = false;
  int syscall_number = 0;    // The number that the process passed: 41.
  std::string syscall;       // "socket"; empty for a number without a name.
  std::string architecture;  // "x86_64", "i386" or "x32".
  int stage = 0;             // Lock-down stage, 1 or 2; 0 if not known.

  // The next two members describe a kSignaled. The dying process reported
  // them, so a hostile process may have forged them, or written parts of the
  // media into them. Empty if it reported nothing.

  uint64_t claimed_address = 0;  // The address that the process touched.
  // The call stack, innermost call first:
  // "libacme.so+0x1f30 (acme_decode+0x12)".
  std::vector<std::string> claimed_backtrace;
};

}  // namespace bulkhead
