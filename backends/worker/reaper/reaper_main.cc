// SPDX-License-Identifier: Apache-2.0
//
// bulkhead-reaper, pid 1 of a backend. Starts the zygote, then reports to
// bulkheadd how each process of the backend ended. Only the parent of a process
// can know that, so vendor code cannot forge a report. As soon as bulkheadd or
// the application is gone, the reaper ends, and with it all processes of the
// backend; this works even while the other one is stopped (SIGSTOP). The reaper
// runs no vendor code, and the only vendor data that it reads are pids passed
// on by bulkheadd.

#include <capnp/message.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <span>
#include <string>
#include <utility>
#include <variant>

#include "backends/worker/lockdown/lockdown.h"
#include "backends/worker/reaper/children.h"
#include "ipc/backend_environment.h"
#include "ipc/capnp_read.h"
#include "ipc/deadline.h"
#include "ipc/descriptors.h"
#include "ipc/message_socket.h"
#include "ipc/schema/control.capnp.h"
#include "ipc/try.h"
#include "ipc/unique_fd.h"

namespace bulkhead::worker::reaper {
namespace {

namespace schema = ipc::schema;

// The time for a send. bulkheadd reads its sockets at once, unless it is
// stopped or broken.
constexpr std::chrono::milliseconds kSendTimeout(1000);
// The time for the first send of a descriptor. The kernel limits the
// descriptors in flight, so the send may have to wait for other programs of the
// user.
constexpr std::chrono::milliseconds kStartTimeout(5000);

[[noreturn]] void EndAll(int code) {
  // The end of pid 1 ends all processes of its pid namespace. In tier reduced
  // there is no namespace. All processes of the backend are then in the process
  // group that the launcher made, which the seccomp filters do not let them
  // leave.
  if (getpid() != 1) kill(0, SIGKILL);
  _exit(code);
}

[[noreturn]] void Fail(const std::string& what) {
  dprintf(STDERR_FILENO, "reaper: %s\n", what.c_str());
  EndAll(1);
}

void Check(bool succeeded, const char* what) {
  if (!succeeded) Fail(std::string(what) + ": " + strerrordesc_np(errno));
}

enum class Whose { kBackends, kReapers };

// Makes the two limits on open files equal: for the zygote and its workers,
// lowers the hard limit to the soft one, which the launcher has set
// (SetProgramLimits() in core/supervisor/sandbox); for the reaper, raises the
// soft limit to the hard one. The kernel counts descriptors in flight over
// sockets per uid. So even if a worker has as many descriptors in flight as it
// may, the reaper can still send its reports, which carry descriptors.
bool LimitOpenFiles(Whose whose) {
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return false;
  if (whose == Whose::kBackends) limit.rlim_max = limit.rlim_cur;
  if (whose == Whose::kReapers) limit.rlim_cur = limit.rlim_max;
  return setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

// Executes the zygote in the forked child. Returns only on failure: the name of
// the step that failed, with the reason in errno.
const char* ExecuteZygote(const sigset_t& signals) {
  // The zygote ends with the reaper. Needed in tier reduced: in a pid
  // namespace, the end of pid 1 ends all processes anyway.
  if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0) return "prctl";
  constexpr int kExecutable = ipc::kReaperDescriptorCount;
  if (dup3(ipc::kReaperWorkerExecutableFd, kExecutable, O_CLOEXEC) < 0) {
    return "dup3";
  }
  // The targets of dup2 lie below its sources, so that no descriptor is
  // overwritten before it has been copied.
  static_assert(int{ipc::kZygoteDescriptorCount} <=
                int{ipc::kReaperZygoteControlFd});
  if (dup2(ipc::kReaperZygoteControlFd, ipc::kZygoteControlFd) < 0 ||
      dup2(ipc::kReaperLockdownFd, ipc::kZygoteLockdownFd) < 0 ||
      dup2(ipc::kReaperPluginFd, ipc::kZygotePluginFd) < 0) {
    return "dup2";
  }
  if (syscall(SYS_close_range, ipc::kZygoteDescriptorCount, kExecutable - 1,
              0) != 0 ||
      syscall(SYS_close_range, kExecutable + 1, ~0u, 0) != 0) {
    return "close_range";
  }
  if (!LimitOpenFiles(Whose::kBackends)) return "cannot limit open files";
  if (setenv(ipc::kInsideBackendVariable, "1", 1) != 0) return "setenv";
  sigprocmask(SIG_SETMASK, &signals, nullptr);
  char name[] = "bulkhead-worker";
  const std::array<char*, 2> arguments = {name, nullptr};
  syscall(SYS_execveat, kExecutable, "", arguments.data(), environ,
          AT_EMPTY_PATH);
  return "cannot execute the worker; is it executable for all?";
}

void Send(capnp::MessageBuilder& message) {
  const auto sent = ipc::SendMessage(ipc::kReaperControlFd, message, {},
                                     ipc::Deadline::After(kSendTimeout));
  if (sent) return;
  if (sent.error().code == ipc::Code::kBackendLost) EndAll(0);
  Fail(sent.error().message);
}

// Sends the message with a pidfd of the process `pid`. If no descriptor can be
// sent, sends the event `starved` instead and returns false.
bool SendPidfd(capnp::MessageBuilder& message, pid_t pid, int pidfd,
               std::chrono::milliseconds patience) {
  const auto sent =
      ipc::SendMessage(ipc::kReaperControlFd, message, std::span(&pidfd, 1),
                       ipc::Deadline::After(patience));
  if (sent) return true;
  if (sent.error().code == ipc::Code::kBackendLost) EndAll(0);
  if (sent.error().code != ipc::Code::kResourceExhausted) {
    Fail(sent.error().message);
  }
  capnp::MallocMessageBuilder instead;
  instead.initRoot<schema::ReaperEvent>().setStarved(pid);
  Send(instead);
  return false;
}

void ReportEnded(Children& children) {
  while (const auto ended = children.ReapOne()) {
    capnp::MallocMessageBuilder message;
    auto exited = message.initRoot<schema::ReaperEvent>().initExited();
    exited.setPid(ended->pid);
    exited.setWaitStatus(ended->wait_status);
    Send(message);
  }
}

void Watch(pid_t pid_untrusted, Children& children) {
  auto pidfd = children.Watch(pid_untrusted);
  capnp::MallocMessageBuilder message;
  auto event = message.initRoot<schema::ReaperEvent>();
  if (!pidfd) {
    if (pidfd.error().code == ipc::Code::kResourceExhausted) {
      event.setStarved(pid_untrusted);
    } else {
      event.setRefused(pid_untrusted);
    }
    return Send(message);
  }
  event.setWatched(pid_untrusted);
  // Does not wait for room for the descriptor, since the reaper has more to do.
  // After `starved`, bulkheadd asks again.
  if (!SendPidfd(message, pid_untrusted, pidfd->get(),
                 std::chrono::milliseconds(0))) {
    children.Keep(pid_untrusted, *std::move(pidfd));
  }
  // The child may have ended before it was watched. Its SIGCHLD was consumed at
  // that time, so its end is reported here.
  ReportEnded(children);
}

ipc::Expected<void> Serve(ipc::ReceivedMessage& message, Children& children) {
  return ipc::ReadCatching([&]() -> ipc::Expected<void> {
    IPC_ASSIGN_OR_RETURN(const auto request,
                         message.root<schema::ReaperRequest>());
    switch (request.which()) {
      case schema::ReaperRequest::WATCH:
        Watch(request.getWatch(), children);
        break;
      case schema::ReaperRequest::KILL:
        children.Kill(request.getKill());
        break;
    }
    return {};
  });
}

void ServeAll(Children& children) {
  while (true) {
    auto received = ipc::TryReceiveMessage(ipc::kReaperControlFd, 0);
    if (!received) Fail(received.error().message);
    if (const auto* none = std::get_if<ipc::NoMessage>(&*received)) {
      if (*none == ipc::NoMessage::kClosed) EndAll(0);
      return;
    }
    const auto served =
        Serve(std::get<ipc::ReceivedMessage>(*received), children);
    if (!served) Fail(served.error().message);
  }
}

void SendStarted(pid_t zygote) {
  const ipc::UniqueFd pidfd(
      static_cast<int>(syscall(SYS_pidfd_open, zygote, 0)));
  Check(static_cast<bool>(pidfd), "pidfd_open");
  capnp::MallocMessageBuilder message;
  message.initRoot<schema::ReaperEvent>().setStarted(zygote);
  if (!SendPidfd(message, zygote, pidfd.get(), kStartTimeout)) EndAll(1);
}

[[noreturn]] void Run() {
  const auto lockdown = lockdown::Lockdown::Read(ipc::kReaperLockdownFd);
  if (!lockdown) Fail(lockdown.error().message);
  // In tier reduced the reaper is not pid 1; this makes it the parent of
  // orphaned processes there too.
  Check(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0, "subreaper");

  sigset_t before;
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  // Blocked before the fork, so that no SIGCHLD is lost before signalfd exists.
  Check(sigprocmask(SIG_BLOCK, &child, &before) == 0, "sigprocmask");
  const pid_t zygote = fork();
  Check(zygote >= 0, "cannot start the zygote");
  if (zygote == 0) {
    const char* failed = ExecuteZygote(before);
    dprintf(STDERR_FILENO, "zygote: %s: %s\n", failed, strerrordesc_np(errno));
    _exit(1);
  }

  Check(LimitOpenFiles(Whose::kReapers), "cannot raise the limit of files");
  Check(syscall(SYS_close_range, ipc::kReaperApplicationFd + 1, ~0u, 0) == 0,
        "close_range");
  const ipc::UniqueFd ended(signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK));
  Check(static_cast<bool>(ended), "signalfd");
  SendStarted(zygote);
  if (const auto installed = lockdown->InstallReaperFilter(); !installed) {
    Fail(installed.error().message);
  }

  Children children(zygote);
  std::array<pollfd, 3> waits = {{{ipc::kReaperApplicationFd, POLLIN, 0},
                                  {ipc::kReaperControlFd, POLLIN, 0},
                                  {ended.get(), POLLIN, 0}}};
  while (true) {
    // No timeout is needed: the end of the application makes its pidfd
    // readable, and the end of bulkheadd closes its socket.
    if (ppoll(waits.data(), waits.size(), nullptr, nullptr) < 0) {
      Check(errno == EINTR, "ppoll");
      continue;
    }
    if (waits[0].revents != 0) EndAll(0);  // the application has ended
    if (waits[1].revents != 0) ServeAll(children);
    if (waits[2].revents != 0) {
      signalfd_siginfo signal;
      while (read(ended.get(), &signal, sizeof(signal)) > 0) {
      }
      ReportEnded(children);
    }
  }
}

}  // namespace
}  // namespace bulkhead::worker::reaper

int main() { bulkhead::worker::reaper::Run(); }
