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
  // While ncurses draws, it ignores a SIGTSTP that has the default action when
  // it starts. The kernel then drops one that waits here, and the key that
  // stops the program would do nothing. It leaves a SIGTSTP with a handler
  // alone; this handler never runs, since the signal is blocked.
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
  pthread_sigmask(SIG_UNBLOCK, &stop, nullptr);  // Stops here.
  pthread_sigmask(SIG_BLOCK, &stop, nullptr);
  sigaction(SIGTSTP, &handler, nullptr);
}

}  // namespace bulkhead::cli::top
