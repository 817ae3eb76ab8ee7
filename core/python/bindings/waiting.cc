// SPDX-License-Identifier: Apache-2.0
#include "core/python/bindings/waiting.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <stdexcept>

namespace bulkhead::python {
namespace {

// The data of the signal handler, which can only reach globals. Only the
// initial thread writes here.
std::atomic<const Cancellation*> watched{nullptr};
std::atomic<bool> interrupted{false};
struct sigaction python_action = {};

void OnInterrupt(int signal, siginfo_t* info, void* context) {
  interrupted = true;
  if (const Cancellation* cancellation = watched.load()) cancellation->Cancel();
  if (python_action.sa_flags & SA_SIGINFO) {
    python_action.sa_sigaction(signal, info, context);
  } else {
    python_action.sa_handler(signal);
  }
}

bool OnInitialThread() { return ::syscall(SYS_gettid) == ::getpid(); }

}  // namespace

InterruptWatch::InterruptWatch(const Cancellation& cancellation) {
  if (!OnInitialThread()) return;
  outer_ = watched.load();
  // The outermost object installs the handler; inner ones only set `watched`.
  if (outer_ == nullptr) {
    struct sigaction current = {};
    ::sigaction(SIGINT, nullptr, &current);
    const bool plain = !(current.sa_flags & SA_SIGINFO);
    if (plain &&
        (current.sa_handler == SIG_DFL || current.sa_handler == SIG_IGN)) {
      return;
    }
    python_action = current;
    interrupted = false;
    watched = &cancellation;
    struct sigaction ours = current;
    ours.sa_sigaction = OnInterrupt;
    ours.sa_flags |= SA_SIGINFO;
    ::sigaction(SIGINT, &ours, nullptr);
  } else {
    watched = &cancellation;
  }
  watching_ = true;
}

InterruptWatch::~InterruptWatch() { Stop(); }

bool InterruptWatch::Stop() {
  if (!watching_) return false;
  watching_ = false;
  if (outer_ == nullptr) ::sigaction(SIGINT, &python_action, nullptr);
  watched = outer_;
  return interrupted.exchange(false);
}

Waiting::Turn::Turn(Waiting& waiting) : waiting_(waiting) {
  if (waiting_.user_.load() == std::this_thread::get_id()) {
    throw std::runtime_error(
        "a reader was asked for bytes and called the decoder that it serves");
  }
  waiting_.turn_.lock();
  waiting_.user_ = std::this_thread::get_id();
}

Waiting::Turn::~Turn() {
  waiting_.user_ = std::thread::id();
  waiting_.turn_.unlock();
}

}  // namespace bulkhead::python
