// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/backend/violation_watch.h"

#include <utility>

namespace bulkhead::backend {
namespace {

// The most violations that are remembered. A zygote may leave processes that
// make forbidden calls and whose end nobody asks for. A zygote with limited
// tasks can have as many processes. All of them are killed anyway.
constexpr size_t kMaxViolations = 4096;

}  // namespace

ViolationWatch::ViolationWatch(kj::UnixEventPort& port,
                               sandbox::SeccompListener listener,
                               sandbox::ExpectedCalls& expected)
    : timer_(port.getTimer()),
      listener_(std::move(listener)),
      expected_(expected),
      observer_(port, listener_.fd(),
                kj::UnixEventPort::FdObserver::OBSERVE_READ) {}

kj::Promise<void> ViolationWatch::Serve() {
  const auto violation = listener_.StopNext(expected_);
  if (!violation) {
    return observer_.whenBecomesReadable().then([this] { return Serve(); });
  }
  // The threads of one process may violate at once. The first call counts.
  if (violations_.size() < kMaxViolations) {
    violations_.emplace(violation->process, *violation);
  }
  // A timer and not evalLater(): kj polls descriptors only when nothing is
  // ready.
  return timer_.afterDelay(0 * kj::SECONDS).then([this] { return Serve(); });
}

void ViolationWatch::Give(
    pid_t pid, sandbox::ExpectedCalls::WorkerDescriptors descriptors) {
  expected_.Give(pid, std::move(descriptors));
  listener_.HandOver(expected_, pid);
}

std::optional<sandbox::Violation> ViolationWatch::Take(pid_t pid) {
  const auto taken = violations_.extract(pid);
  if (!taken) return std::nullopt;
  return taken.mapped();
}

}  // namespace bulkhead::backend
