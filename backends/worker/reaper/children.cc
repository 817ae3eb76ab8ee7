// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/reaper/children.h"

#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace bulkhead::worker::reaper {
namespace {

int WaitStatus(const siginfo_t& info) {
  switch (info.si_code) {
    case CLD_EXITED:
      return W_EXITCODE(info.si_status, 0);
    case CLD_DUMPED:
      return W_EXITCODE(0, info.si_status) | WCOREFLAG;
    default:
      return W_EXITCODE(0, info.si_status);
  }
}

}  // namespace

ipc::Expected<ipc::UniqueFd> Children::Watch(pid_t pid_untrusted) {
  const auto refused = [] {
    return ipc::Fail(ipc::Code::kBackendMisbehaved, "no child to watch");
  };
  if (pid_untrusted <= 0) return refused();
  if (auto kept = kept_.extract(pid_untrusted)) {
    return std::move(kept.mapped());
  }
  if (std::find(watched_.begin(), watched_.end(), pid_untrusted) !=
      watched_.end()) {
    return refused();
  }
  // waitid() succeeds only for children, and with WNOWAIT it does not reap. A
  // child keeps its pid until ReapOne() reaps it, so pidfd_open() below cannot
  // open another process.
  siginfo_t info = {};
  if (waitid(P_PID, static_cast<id_t>(pid_untrusted), &info,
             WEXITED | WNOHANG | WNOWAIT) != 0) {
    return refused();
  }
  ipc::UniqueFd pidfd(
      static_cast<int>(syscall(SYS_pidfd_open, pid_untrusted, 0)));
  if (!pidfd) {
    return ipc::FailErrno(ipc::Code::kResourceExhausted, "cannot open a pidfd",
                          errno);
  }
  watched_.push_back(pid_untrusted);
  return pidfd;
}

void Children::Kill(pid_t pid) const {
  if (std::find(watched_.begin(), watched_.end(), pid) != watched_.end()) {
    kill(pid, SIGKILL);
  }
}

std::optional<Children::Ended> Children::ReapOne() {
  // Waits for one pid at a time instead of P_ALL, since an unwatched child must
  // stay a zombie. The zygote is the first in watched_.
  for (auto child = watched_.begin(); child != watched_.end(); ++child) {
    siginfo_t info = {};
    if (waitid(P_PID, static_cast<id_t>(*child), &info, WEXITED | WNOHANG) !=
            0 ||
        info.si_pid == 0) {
      continue;
    }
    const Ended ended = {*child, WaitStatus(info)};
    kept_.erase(*child);
    watched_.erase(child);
    return ended;
  }
  return std::nullopt;
}

}  // namespace bulkhead::worker::reaper
