// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/operators/top/signals.h"

#include <sys/signalfd.h>
#include <unistd.h>

namespace bulkhead::cli::top {

Signals::Signals() {
  sigset_t taken;
  sigemptyset(&taken);
  for (const int signal :
       {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGWINCH}) {
    sigaddset(&taken, signal);
  }
  pthread_sigmask(SIG_BLOCK, &taken, &before_);
  fd_ = ipc::UniqueFd(::signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK));
}

Signals::~Signals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

std::optional<int> Signals::Take() {
  signalfd_siginfo signal;
  if (::read(fd_.get(), &signal, sizeof signal) != sizeof signal) {
    return std::nullopt;
  }
  return static_cast<int>(signal.ssi_signo);
}

void Signals::Stop() {
  // ncurses has a handler of its own.
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  sigaction(SIGTSTP, &action, nullptr);
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTSTP);
  ::kill(::getpid(), SIGTSTP);
  pthread_sigmask(SIG_UNBLOCK, &stop, nullptr);  // Stops here.
  pthread_sigmask(SIG_BLOCK, &stop, nullptr);
}

}  // namespace bulkhead::cli::top
