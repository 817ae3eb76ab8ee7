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

// The zygote's descriptors, which the reaper places: the socket to bulkheadd,
// the Lockdown memfd and the backend's shared object.
enum ZygoteDescriptor : int {
  kZygoteControlFd = 3,
  kZygoteLockdownFd = 4,
  kZygotePluginFd = 5,
  kZygoteDescriptorCount = 6,
};

// The socket of a worker, which serves one session or many. If bulkheadd checks
// the worker's filters, it puts the socket at this number when it allows the
// last filter, so the zygote never has the socket.
inline constexpr int kWorkerSocketFd = 3;

// The numbers of the descriptors that a session's worker may map:
// kWorkerMemoryCount numbers from kWorkerMemoryFd on. When the message Attach
// arrives, the worker has only descriptors 0 to 3. So the first descriptors of
// the message, which are shared memory, get these numbers. The media comes
// after them and must not be mapped, since processes that map the same file can
// signal each other with futexes on its pages. The worker has no dup(), so no
// descriptor gets another number. A worker with granted devices, or with
// several sessions, may map any descriptor.
inline constexpr int kWorkerMemoryFd = kWorkerSocketFd + 1;
inline constexpr int kWorkerMemoryCount = 3;

}  // namespace bulkhead::ipc
