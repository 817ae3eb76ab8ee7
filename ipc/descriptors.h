// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace bulkhead::ipc {

// The descriptors that a sandboxed process has when it starts, and no others.
// The launcher in core places them at these numbers before it starts the
// reaper; the reaper does the same for the zygote. Descriptors 0, 1 and 2 are
// /dev/null, /dev/null and the write end of the log pipe to bulkheadd.
enum ReaperDescriptor : int {
  // The SOCK_SEQPACKET socket to bulkheadd. The reaper exits when bulkheadd
  // closes the other end.
  kReaperControlFd = 3,
  // The pidfd of the application. The reaper exits when the pidfd becomes
  // readable, that is when the application has ended.
  kReaperApplicationFd = 4,
  // The worker's executable, which the reaper starts as the zygote.
  kReaperWorkerExecutableFd = 5,
  // The zygote's SOCK_SEQPACKET socket to bulkheadd.
  kReaperZygoteControlFd = 6,
  // A sealed memfd that holds one Lockdown message (schema/lockdown.capnp).
  kReaperLockdownFd = 7,
  // The backend's shared object, opened by bulkheadd.
  kReaperPluginFd = 8,
  kReaperDescriptorCount = 9,
};

enum ZygoteDescriptor : int {
  kZygoteControlFd = 3,
  kZygoteLockdownFd = 4,
  kZygotePluginFd = 5,
  kZygoteDescriptorCount = 6,
};

// The socket of a session's worker, or of a worker of many sessions. Where
// bulkheadd decides on the worker's filters, it puts the socket there when it
// allows the last one, so that the zygote never has it.
inline constexpr int kWorkerSocketFd = 3;

// The descriptors of memory that the worker of a session may map: those that
// Attach brings first, since it has only the four below. The media follows them
// and cannot be mapped, and no descriptor can be given another number. A page
// of the media would be a place to meet others who map the same file
// (futex(2)).
inline constexpr int kWorkerMemoryFd = kWorkerSocketFd + 1;
inline constexpr int kWorkerMemoryCount = 3;

}  // namespace bulkhead::ipc
