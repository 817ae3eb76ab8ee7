// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/operators/top/signals.h"

#include <sys/signalfd.h>
#include <unistd.h>

namespace bulkhead::cli::top {
namespace {

void DoNothing(int) {}

}  // namespace

Signals::Signals() {
  sigset_t taken;
  sigemptyset(&taken);
  for (const int signal :
       {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGWINCH}) {
    sigaddset(&taken, signal);
  }
  pthread_sigmask(SIG_BLOCK, &taken, &before_);
  fd_ = ipc::UniqueFd(::signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK));
  // If SIGTSTP has the default action when ncurses starts, ncurses ignores the
  // signal while it draws. The kernel then drops a pending SIGTSTP, and ^Z
  // would do nothing. If SIGTSTP has a handler, ncurses leaves it alone. This
  // handler never runs, since the signal is blocked.
  struct sigaction action = {};
  action.sa_handler = DoNothing;
  sigaction(SIGTSTP, &action, &stop_before_);
}

Signals::~Signals() {
  sigaction(SIGTSTP, &stop_before_, nullptr);
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

std::optional<int> Signals::Take() {
  signalfd_siginfo signal;
  if (::read(fd_.get(), &signal, sizeof signal) != sizeof signal) {
    return std::nullopt;
  }
  return static_cast<int>(signal.ssi_signo);
}

void Signals::Stop() {
  struct sigaction action = {};
  struct sigaction handler = {};
  action.sa_handler = SIG_DFL;
  sigaction(SIGTSTP, &action, &handler);
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTSTP);
  ::kill(::getpid(), SIGTSTP);
  // The process stops inside of this call, and goes on here after SIGCONT.
  pthread_sigmask(SIG_UNBLOCK, &stop, nullptr);
  pthread_sigmask(SIG_BLOCK, &stop, nullptr);
  sigaction(SIGTSTP, &handler, nullptr);
}

}  // namespace bulkhead::cli::top
