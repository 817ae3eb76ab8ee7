// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace bulkhead::ipc {

// A sandboxed process is born with exactly these descriptors: core's launcher
// puts them there, the child's side finds them there. 0, 1 and 2 are
// /dev/null, /dev/null and the log pipe to bulkheadd.
enum ReaperDescriptor : int {
  // SOCK_SEQPACKET to bulkheadd; the reaper ends when it is closed.
  kReaperControlFd = 3,
  // pidfd of the application; the reaper ends when it becomes readable.
  kReaperApplicationFd = 4,
  // The worker's executable, which the reaper starts as the zygote.
  kReaperWorkerExecutableFd = 5,
  // SOCK_SEQPACKET of the zygote to bulkheadd.
  kReaperZygoteControlFd = 6,
  // Sealed memfd with one Lockdown message (schema/lockdown.capnp).
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

}  // namespace bulkhead::ipc
