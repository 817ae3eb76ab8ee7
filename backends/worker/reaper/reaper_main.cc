// SPDX-License-Identifier: Apache-2.0
//
// pid 1 of a backend. Starts the zygote, then reports to bulkheadd how each
// process of the backend ended, which no vendor code can do for it or forge.
// Ends, and ends all of them, as soon as bulkheadd or the application is gone,
// even if the other of the two is stopped. Runs no vendor code, reads nothing
// that a vendor wrote but the pids that bulkheadd passes on.

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

namespace bulkhead::worker {
namespace {

namespace schema = ipc::schema;

// bulkheadd reads its sockets at once; beyond this it is stopped or broken.
constexpr std::chrono::milliseconds kSendTimeout(1000);

[[noreturn]] void EndAll(int code) {
  // As pid 1, ending is enough. Otherwise all of the backend is in the process
  // group that the launcher made, and no filter of ours allows to leave it.
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

// The launcher set the backend's limit below ours (core/supervisor/sandbox's
// LimitOpenFiles): as many descriptors as a worker can leave in flight, our
// reports with theirs must still be sent.
bool LimitOpenFiles(Whose whose) {
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return false;
  if (whose == Whose::kBackends) limit.rlim_max = limit.rlim_cur;
  if (whose == Whose::kReapers) limit.rlim_cur = limit.rlim_max;
  return setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

// Returns what failed; errno says why.
const char* ExecuteZygote(const sigset_t& signals) {
  // For tier reduced; in a pid namespace it is implied.
  if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0) return "prctl";
  constexpr int kExecutable = ipc::kReaperDescriptorCount;
  if (dup3(ipc::kReaperWorkerExecutableFd, kExecutable, O_CLOEXEC) < 0) {
    return "dup3";
  }
  // So that no descriptor is overwritten before it has been copied.
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

void Send(capnp::MessageBuilder& message, std::span<const int> descriptors) {
  const auto sent =
      ipc::SendMessage(ipc::kReaperControlFd, message, descriptors,
                       ipc::Deadline::After(kSendTimeout));
  if (sent) return;
  if (sent.error().code == ipc::Code::kBackendLost) EndAll(0);
  Fail(sent.error().message);
}

void ReportEnded(Children& children) {
  while (const auto ended = children.ReapOne()) {
    capnp::MallocMessageBuilder message;
    auto exited = message.initRoot<schema::ReaperEvent>().initExited();
    exited.setPid(ended->pid);
    exited.setWaitStatus(ended->wait_status);
    Send(message, {});
  }
}

void Watch(pid_t pid_untrusted, Children& children) {
  const ipc::UniqueFd pidfd = children.Watch(pid_untrusted);
  capnp::MallocMessageBuilder message;
  auto event = message.initRoot<schema::ReaperEvent>();
  if (!pidfd) {
    event.setRefused(pid_untrusted);
    return Send(message, {});
  }
  event.setWatched(pid_untrusted);
  const int descriptor = pidfd.get();
  Send(message, std::span(&descriptor, 1));
  // It may have ended before.
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
  const int descriptor = pidfd.get();
  Send(message, std::span(&descriptor, 1));
}

[[noreturn]] void Run() {
  const auto lockdown = Lockdown::Read(ipc::kReaperLockdownFd);
  if (!lockdown) Fail(lockdown.error().message);
  Check(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0, "subreaper");

  sigset_t before;
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
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
    // The lifelines are the bound of this wait.
    if (ppoll(waits.data(), waits.size(), nullptr, nullptr) < 0) {
      Check(errno == EINTR, "ppoll");
      continue;
    }
    if (waits[0].revents != 0) EndAll(0);
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
}  // namespace bulkhead::worker

int main() { bulkhead::worker::Run(); }
