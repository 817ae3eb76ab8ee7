// SPDX-License-Identifier: Apache-2.0
#include "core/application/supervisor_link/supervisor_watch.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <utility>

#include "core/base/status_macros.h"
#include "core/control/control_exchange.h"
#include "ipc/deadline.h"
#include "ipc/limit_name.h"
#include "ipc/message_socket.h"

namespace bulkhead::supervisor_link {
namespace {

// A check waits in this number of parts. If this process is stopped during a
// part, however long, only this part is used up.
constexpr int kParts = 10;

Status GivenUp() {
  return Status(Code::kDeadlineExceeded, "the check was interrupted");
}

}  // namespace

Result<std::shared_ptr<SupervisorWatch>> SupervisorWatch::Of(
    pid_t pid, std::chrono::milliseconds patience) {
  ipc::UniqueFd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  // A bulkheadd that has ended already (ESRCH) is noticed by the first
  // exchange.
  if (!pidfd && errno != ESRCH) {
    return Status(Code::kUnsupported,
                  "this kernel has no pidfd_open; Linux 5.13 is the minimum");
  }
  ASSIGN_OR_RETURN(auto turn, InterruptibleTurn::Create());
  return std::shared_ptr<SupervisorWatch>(
      new SupervisorWatch(pid, std::move(pidfd), std::move(turn), patience));
}

Status SupervisorWatch::Check(int interrupt_fd) {
  // Waits while another thread asks, which takes up to patience_.
  const auto held = turn_.Take(interrupt_fd);
  if (!held) return GivenUp();
  const auto part = patience_ / kParts;
  RETURN_IF_ERROR(found_);
  if (!asked_) {
    // No session has the number 0: this does nothing and is answered at once.
    found_ = SendRequest(
        connection_.get(),
        [](ipc::schema::HostRequest::Builder request) {
          request.setCloseSession(0);
        },
        {}, ipc::Deadline::After(part));
    asked_ = true;
  }
  for (int i = 0; found_.ok() && i < kParts; ++i) {
    const auto received = ipc::ReceiveMessage(
        connection_.get(), 0,
        ipc::Deadline::After(part).OrReadable(interrupt_fd));
    if (received && *received) {
      asked_ = false;
      return Status();
    }
    // asked_ stays true: the next check waits for the answer to this question.
    if (IsInterrupted(interrupt_fd)) return GivenUp();
    if (received || received.error().code != ipc::Code::kDeadlineExceeded) {
      found_ = Status(Code::kBackendLost, "the supervisor bulkheadd died");
    }
  }
  if (found_.ok()) found_ = End(Code::kBackendLost);
  return found_;
}

Status SupervisorWatch::End(Code code) const {
  if (pidfd_) {
    ::syscall(SYS_pidfd_send_signal, pidfd_.get(), SIGKILL, nullptr, 0);
  }
  return Status(
      code, "the supervisor bulkheadd (process " + std::to_string(pid_) +
                ") did not answer within " + std::to_string(patience_.count()) +
                " ms of " + ipc::DeadlineName("supervisor_start") +
                " and was ended, so that another can take its place; if "
                "nobody has stopped it (SIGSTOP, a debugger), the machine is "
                "overloaded: raise that deadline");
}

}  // namespace bulkhead::supervisor_link
