// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/backend/spare_worker.h"

#include <utility>

#include "core/base/pidfd.h"
#include "core/supervisor/sandbox/thread_status.h"
#include "ipc/message_socket.h"

namespace bulkhead::backend {
namespace {

// The number of late spares after which no more are cloned. An overloaded
// machine may make one or two late. A backend may be late on purpose.
constexpr uint32_t kMostLate = 3;

}  // namespace

void SpareWorker::Prepare(const sandbox::MemoryAllowance& memory,
                          std::shared_ptr<Incarnation> incarnation) {
  // Sessions that are opened at the same time each have a worker cloned, and
  // need one spare between them.
  if (is_preparing_ || spare_) return;
  if (late_ones_ == kMostLate) return;
  auto sockets = ipc::MakeSocketPair();
  if (!sockets) return;
  is_preparing_ = true;
  preparing_ =
      incarnation
          // A zygote that is late with a spare has failed nobody. The next
          // session finds out whether it still clones.
          ->CloneWorker(Incarnation::WorkerKind::kSession,
                        std::move(sockets->second), Incarnation::kNoTimeout,
                        memory)
          .then([this, memory, incarnation,
                 socket = std::move(sockets->first)](auto process) mutable {
            is_preparing_ = false;
            // The next session that has a worker cloned learns why that fails.
            if (!process) return;
            spare_ = Worker{.incarnation = incarnation,
                            .process = *std::move(process),
                            .memory = memory,
                            .socket = std::move(socket)};
            ending_ = incarnation->WhenZygoteGone()
                          .then([this] { End(); })
                          .eagerlyEvaluate(nullptr);
            late_ = incarnation->AfterTimeForSpare()
                        .then([this, pid = spare_->process.pid] {
                          EndUnlocked(pid);
                        })
                        .eagerlyEvaluate(nullptr);
          })
          .eagerlyEvaluate(nullptr);
}

void SpareWorker::EndUnlocked(pid_t pid) {
  if (!spare_ || spare_->process.pid != pid) return;
  const int pidfd = spare_->process.pidfd.get();
  if (sandbox::CheckEveryThread(pidfd, sandbox::kStage2Filters).ok()) return;
  // A worker that is not locked down may do what a zygote may, but is not
  // stopped (SIGSTOP) while other workers have media.
  ++late_ones_;
  End();
}

void SpareWorker::End() {
  std::optional<Worker> spare = std::exchange(spare_, std::nullopt);
  if (!spare) return;
  if (const auto own = spare->incarnation.lock()) {
    kill_(*own, std::move(spare->process));
  }
}

std::optional<SpareWorker::Worker> SpareWorker::Take(
    const sandbox::MemoryAllowance& memory,
    const std::shared_ptr<Incarnation>& incarnation) {
  if (!spare_) return std::nullopt;
  // The kernel is asked too, since the reaper may not have reported the end of
  // the spare yet.
  const int pidfd = spare_->process.pidfd.get();
  if (spare_->incarnation.lock() == incarnation && spare_->memory == memory &&
      !HasEnded(pidfd) && !IsStopped(pidfd)) {
    return std::exchange(spare_, std::nullopt);
  }
  End();
  return std::nullopt;
}

}  // namespace bulkhead::backend
