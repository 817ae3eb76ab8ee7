// SPDX-License-Identifier: Apache-2.0
#include "core/application/supervisor_link/cancel_signal.h"

#include <sched.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace bulkhead::supervisor_link {
namespace {

// Makes the eventfd readable. The write fails only if the counter is full, and
// then the eventfd is readable already.
void Signal(int event) {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t put = ::write(event, &one, sizeof(one));
}

}  // namespace

std::shared_ptr<CancelSignal> CancelSignal::Of(
    const std::optional<Cancellation>& cancellation) {
  return cancellation ? cancellation->signal_
                      : std::make_shared<CancelSignal>();
}

CancelSignal::CancelSignal() : owner_(::getpid()) {}

void CancelSignal::Raise() {
  // A fork has a copy of the word, but shares the eventfd with its parent.
  if (::getpid() != owner_) return;
  const int error = errno;
  ++raisers_;
  raised_ = 1;
  ipc::WakeSleepers(&raised_, ipc::WatchedWord::Scope::kProcess);
  if (const int event = event_; event >= 0) Signal(event);
  --raisers_;
  errno = error;
}

bool CancelSignal::Take() {
  if (raised_ == 0 || raised_.exchange(0) == 0) return false;
  std::lock_guard lock(mutex_);
  uint64_t times = 0;
  if (event_ >= 0) (void)!::read(event_, &times, sizeof(times));
  return true;
}

CancelSignal::Watch::Watch(CancelSignal* signal) : signal_(signal) {
  if (!signal_) return;
  std::lock_guard lock(signal_->mutex_);
  if (signal_->watchers_ == 0) {
    const int event = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (event < 0) {
      status_ = Status(
          Code::kResourceExhausted,
          "cannot make an eventfd: " + std::generic_category().message(errno));
      return;
    }
    signal_->event_ = event;
    // Raise() sets raised_ before it reads event_. So if a Raise() came too
    // early to see this eventfd, raised_ is set here.
    if (signal_->raised_ != 0) Signal(event);
  }
  ++signal_->watchers_;
  fd_ = signal_->event_;
}

CancelSignal::Watch::~Watch() {
  if (fd_ < 0) return;
  std::lock_guard lock(signal_->mutex_);
  if (--signal_->watchers_ > 0) return;
  signal_->event_ = -1;
  // Waits until no thread is inside Raise(), which could still write to fd_.
  // This is short, since a Raise() only writes. A signal handler of this thread
  // cannot be inside Raise() now.
  while (signal_->raisers_ > 0) ::sched_yield();
  ::close(fd_);
}

Status Cancelled() {
  return Status(
      Code::kCancelled,
      "the application cancelled the call; call again when the result "
      "is wanted");
}

}  // namespace bulkhead::supervisor_link
