// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/backend/readiness.h"

#include <sys/types.h>

#include <cstdint>
#include <utility>

#include "core/base/pidfd.h"
#include "core/supervisor/sandbox/file_mappings.h"
#include "core/supervisor/sandbox/thread_status.h"
#include "ipc/limit_name.h"

namespace bulkhead::backend {
namespace {

// The most bytes of files that are held for one zygote. A backend may ship a
// large model and map it.
constexpr uint64_t kMostHeldBytes = uint64_t{4} << 30;

// Returns whether the process has ended or is about to.
bool IsEnding(int pidfd) {
  if (HasEnded(pidfd)) return true;
  const auto mappings = sandbox::FileMappings(PidOf(pidfd));
  return mappings && mappings->empty();
}

}  // namespace

Readiness::Readiness(kj::Timer& timer, sandbox::ExpectedCalls& expected,
                     const sandbox::LoadedMemory& loading, kj::TaskSet& tasks,
                     std::function<void(std::string)> refuse)
    : timer_(timer),
      expected_calls_(expected),
      loading_(loading),
      tasks_(tasks),
      refuse_(std::move(refuse)) {}

kj::Promise<Status> Readiness::Await(std::chrono::milliseconds timeout) {
  if (result_) return *result_;
  auto paf = kj::newPromiseAndFulfiller<Status>();
  ready_ = kj::mv(paf.fulfiller);
  return paf.promise.exclusiveJoin(
      timer_.afterDelay(timeout.count() * kj::MILLISECONDS).then([timeout] {
        return Status(Code::kDeadlineExceeded,
                      "it was not ready within " +
                          std::to_string(timeout.count()) + " ms of " +
                          ipc::DeadlineName("backend_start"));
      }));
}

void Readiness::Fail(Status why, bool declined) {
  if (result_) return;
  declined_ |= declined;
  Resolve(std::move(why));
}

void Readiness::Check(int pidfd, bool lacks_listener) {
  if (!said_ready_ || result_ || pidfd < 0) return;
  Status locked =
      lacks_listener
          ? Status(Code::kSandboxUnavailable,
                   "it did not hand over the listener of its filter")
          : sandbox::CheckEveryThread(pidfd, sandbox::kStage1Filters);
  if (!locked.ok()) {
    return Refuse(std::move(locked), "its lock-down was incomplete");
  }
  if (Status loaded = sandbox::CheckLoaded(pidfd, loading_); !loaded.ok()) {
    // Such a zygote is treated like a backend that lacks a grant.
    declined_ = true;
    return Refuse(std::move(loaded), "it had too much memory mapped");
  }
  tasks_.add(HoldFiles(pidfd).then([this, pidfd](Status held) {
    if (result_) return;
    // A process that is ending has no mappings any more. Its end is reported
    // anyway. kBackendUnavailable means that the zygote maps files that cannot
    // be held; that counts as declined.
    if (!held.ok() && IsEnding(pidfd)) return;
    declined_ = held.code() == Code::kBackendUnavailable;
    if (!held.ok()) return Refuse(std::move(held), "its files were not held");
    Resolve(Status());
  }));
}

void Readiness::Refuse(Status status, std::string reason) {
  // The zygote is dead. Its end is reported anyway, with the reason.
  if (status.code() == Code::kBackendLost) return;
  Resolve(std::move(status));
  refuse_(std::move(reason));
}

kj::Promise<Status> Readiness::HoldFiles(int pidfd) {
  // Nothing is held if devices were granted, since a driver's mappings are not
  // files and may be as large as the device. Nothing can be held if this
  // machine does not let bulkheadd read the memory of a backend.
  if (loading_.maps_devices || !expected_calls_.reads_memory()) return Status();
  const pid_t zygote = PidOf(pidfd);
  const auto mappings = sandbox::FileMappings(zygote);
  if (!mappings || mappings->empty()) {
    return Status(Code::kSandboxUnavailable,
                  "/proc does not show what its process maps");
  }
  Status added = expected_calls_.held_files().Add(
      zygote, *mappings, kMostHeldBytes, sandbox::HeldFiles::When::kFirst);
  if (!added.ok()) return added;
  return HoldRemaining();
}

kj::Promise<Status> Readiness::HoldRemaining() {
  const auto done = expected_calls_.held_files().Step();
  if (!done) return done.error();
  if (*done) return Status();
  // A timer and not evalLater(): kj polls descriptors only when nothing is
  // ready.
  return timer_.afterDelay(0 * kj::SECONDS).then([this] {
    return HoldRemaining();
  });
}

void Readiness::Resolve(Status status) {
  result_ = std::move(status);
  if (ready_) ready_->fulfill(Status(*result_));
}

}  // namespace bulkhead::backend
