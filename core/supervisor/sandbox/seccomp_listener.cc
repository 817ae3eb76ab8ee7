// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/sandbox/seccomp_listener.h"

#include <linux/audit.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <string>
#include <utility>

#include "core/supervisor/sandbox/syscall_tables.h"
#include "core/supervisor/sandbox/thread_status.h"
#include "ipc/descriptors.h"

namespace bulkhead::sandbox {
namespace {

// Room for a notification. Later kernels may append members to it.
union Notification {
  seccomp_notif known;
  std::byte room[1024];
};

bool FitsNotifications() {
  seccomp_notif_sizes sizes = {};
  return syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes) == 0 &&
         sizes.seccomp_notif <= sizeof(Notification);
}

// Returns whether the thread of notification `id` still waits in its call.
bool StillWaits(int listener, uint64_t id) {
  return ioctl(listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0;
}

// Returns whether ExpectedCalls looks at the memory and the descriptors of the
// calling process to decide on the call.
bool IsAsked(const PendingCall& call) {
  return call.architecture == AUDIT_ARCH_X86_64 &&
         sandbox::IsAsked(call.number, call.arguments);
}

PendingCall ToPendingCall(const seccomp_notif& call,
                          const ThreadStatus& status) {
  PendingCall pending = {.process = status.inner_process,
                         .thread = static_cast<pid_t>(call.pid),
                         .threads = status.threads,
                         .id = call.id,
                         .number = call.data.nr,
                         .architecture = call.data.arch};
  std::ranges::copy(call.data.args, pending.arguments);
  return pending;
}

// Makes the kernel execute the call, unless its thread has ended.
void LetGoOn(int listener, uint64_t id) {
  seccomp_notif_resp answer = {};
  answer.id = id;
  answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
  ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
}

// Makes the call fail with EAGAIN, which a zygote survives.
void LetFail(int listener, uint64_t id) {
  seccomp_notif_resp answer = {};
  answer.id = id;
  answer.error = -EAGAIN;
  ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
}

// Copies `source` to the process of the waiting call, as descriptor `number`.
// Returns false if the process has ended.
bool AddDescriptor(int listener, uint64_t id, const ipc::UniqueFd& source,
                   int number) {
  seccomp_notif_addfd descriptor = {};
  descriptor.id = id;
  descriptor.flags = SECCOMP_ADDFD_FLAG_SETFD;
  descriptor.srcfd = static_cast<uint32_t>(source.get());
  descriptor.newfd = static_cast<uint32_t>(number);
  return ioctl(listener, SECCOMP_IOCTL_NOTIF_ADDFD, &descriptor) == number;
}

void Kill(pid_t process, pid_t thread, int listener, uint64_t id) {
  const ipc::UniqueFd pidfd(
      process == 0 ? -1
                   : static_cast<int>(syscall(SYS_pidfd_open, process, 0)));
  // Checked after the pidfd was opened: if the thread still waits, its ids were
  // not reused, so the pidfd is of its process.
  if (!StillWaits(listener, id)) return;
  if (pidfd) {
    syscall(SYS_pidfd_send_signal, pidfd.get(), SIGKILL, nullptr, 0);
  } else if (thread > 0) {
    // Without /proc only the thread is known. SIGKILL to a thread id ends the
    // whole process.
    kill(thread, SIGKILL);
  }
}

}  // namespace

Result<SeccompListener> SeccompListener::Adopt(ipc::UniqueFd fd) {
  if (!FitsNotifications()) {
    return Status(
        Code::kSandboxUnavailable,
        "this kernel's seccomp notifications are larger than expected");
  }
  // Only a listener answers ENOENT: no notification has id 0.
  uint64_t none = 0;
  if (ioctl(fd.get(), SECCOMP_IOCTL_NOTIF_ID_VALID, &none) == 0 ||
      errno != ENOENT) {
    return Status(
        Code::kBackendMisbehaved,
        "the backend's zygote sent a descriptor that is not the listener "
        "of its filter");
  }
  return SeccompListener(std::move(fd));
}

std::optional<Violation> SeccompListener::StopNext(ExpectedCalls& expected) {
  while (true) {
    // Without a waiting call RECV would block, even with O_NONBLOCK.
    pollfd pending = {.fd = fd_.get(), .events = POLLIN, .revents = 0};
    if (poll(&pending, 1, 0) <= 0 || (pending.revents & POLLIN) == 0) {
      return std::nullopt;
    }
    Notification notification = {};
    if (ioctl(fd_.get(), SECCOMP_IOCTL_NOTIF_RECV, &notification) != 0) {
      // The thread was killed after the poll.
      if (errno == ENOENT || errno == EINTR) continue;
      return std::nullopt;
    }
    const seccomp_notif& call = notification.known;
    const auto thread = static_cast<pid_t>(call.pid);
    const auto status = ReadThreadStatus("/proc/" + std::to_string(thread));
    // bulkheadd has no free descriptor to find out which process calls.
    if (!status) {
      LetFail(fd_.get(), call.id);
      continue;
    }
    const PendingCall pending_call = ToPendingCall(call, *status);
    switch (expected.Decide(pending_call)) {
      case ExpectedCalls::Decision::kGoOn:
        LetGoOn(fd_.get(), call.id);
        continue;
      case ExpectedCalls::Decision::kAwaitDescriptors:
        HandOver(expected, status->inner_process);
        continue;
      case ExpectedCalls::Decision::kCannotTell:
        LetFail(fd_.get(), call.id);
        continue;
      case ExpectedCalls::Decision::kRefuse:
        // A process that was killed meanwhile has lost its memory and its
        // descriptors, so even an honest call of it looks forbidden.
        if (IsAsked(pending_call) && !StillWaits(fd_.get(), call.id)) continue;
        break;
    }
    Kill(status->process, thread, fd_.get(), call.id);
    return Violation{.process = status->inner_process,
                     .number = call.data.nr,
                     .architecture = call.data.arch,
                     .filters = status->filters};
  }
}

void SeccompListener::HandOver(ExpectedCalls& expected, pid_t process) {
  const auto ready = expected.TakeReady(process);
  if (!ready) return;
  const auto& [socket, log, silence] = ready->descriptors;
  // If a step fails, the worker has ended, or it keeps waiting until bulkheadd
  // ends it at its deadline.
  if (AddDescriptor(fd_.get(), ready->id, silence, STDIN_FILENO) &&
      AddDescriptor(fd_.get(), ready->id, silence, STDOUT_FILENO) &&
      AddDescriptor(fd_.get(), ready->id, log, STDERR_FILENO) &&
      AddDescriptor(fd_.get(), ready->id, socket, ipc::kWorkerSocketFd)) {
    LetGoOn(fd_.get(), ready->id);
  }
}

}  // namespace bulkhead::sandbox
