// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/backend/violation_watch.h"

#include <utility>

namespace bulkhead::supervisor {
namespace {

// A zygote may leave processes that violate and that nobody reaps: remembered
// are as many as it can have where its tasks are limited. All are ended.
constexpr size_t kMaxViolations = 4096;

}  // namespace

ViolationWatch::ViolationWatch(kj::UnixEventPort& port,
                               sandbox::ViolationListener listener)
    : timer_(port.getTimer()),
      listener_(std::move(listener)),
      observer_(port, listener_.fd(),
                kj::UnixEventPort::FdObserver::OBSERVE_READ) {}

kj::Promise<void> ViolationWatch::Serve() {
  const auto violation = listener_.StopNext();
  if (!violation) {
    return observer_.whenBecomesReadable().then([this] { return Serve(); });
  }
  // Of a process that makes several at once the first counts.
  if (violations_.size() < kMaxViolations) {
    violations_.emplace(violation->process, *violation);
  }
  // So that the others of the event loop have their turn.
  return timer_.afterDelay(0 * kj::SECONDS).then([this] { return Serve(); });
}

std::optional<sandbox::Violation> ViolationWatch::Take(pid_t pid) {
  const auto taken = violations_.extract(pid);
  if (!taken) return std::nullopt;
  return taken.mapped();
}

}  // namespace bulkhead::supervisor
