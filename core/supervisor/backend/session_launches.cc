// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/backend/session_launches.h"

#include <utility>

#include "ipc/limit_name.h"

namespace bulkhead::backend {

SessionLaunches::SessionLaunches(
    const StartContext& context,
    std::function<void(Incarnation&)> on_zygote_end)
    : context_(context),
      on_zygote_end_(std::move(on_zygote_end)),
      tasks_(*this) {}

void SessionLaunches::taskFailed(kj::Exception&&) {
  // A session has ended, and its incarnation with it, before the zygote. There
  // is nothing to report.
}

kj::Promise<SessionLaunches::Outcome> SessionLaunches::Launch(
    std::shared_ptr<const BackendLaunch> launch, uint32_t life) {
  return AwaitTurn().then([this, launch = std::move(launch),
                           life](MaybeTurn turn) -> kj::Promise<Outcome> {
    if (turn == nullptr) {
      return Outcome{
          .status =
              Status(Code::kResourceExhausted,
                     "too many sessions are being opened at once: this one "
                     "got no turn to load the backend within " +
                         ipc::DeadlineName("backend_start") + "; retry later"),
          .incarnation = nullptr};
    }
    return Load(launch, life).attach(kj::mv(turn));
  });
}

kj::Promise<SessionLaunches::MaybeTurn> SessionLaunches::AwaitTurn() {
  if (turns_ < kMaxAtOnce) {
    ++turns_;
    return MaybeTurn(kj::heap<Turn>(*this));
  }
  auto paf = kj::newPromiseAndFulfiller<MaybeTurn>();
  waiting_.push_back(kj::mv(paf.fulfiller));
  return paf.promise.exclusiveJoin(
      context_.port.getTimer()
          .afterDelay(context_.start_deadline.count() * kj::MILLISECONDS)
          .then([] { return MaybeTurn(); }));
}

void SessionLaunches::PassTurn() {
  while (!waiting_.empty()) {
    auto next = kj::mv(waiting_.front());
    waiting_.pop_front();
    if (!next->isWaiting()) continue;  // it has given up
    next->fulfill(MaybeTurn(kj::heap<Turn>(*this)));
    return;
  }
  --turns_;
}

kj::Promise<SessionLaunches::Outcome> SessionLaunches::Load(
    std::shared_ptr<const BackendLaunch> launch, uint32_t life) {
  return BackendLaunch::HasChanged(launch).then(
      [this, launch, life](bool changed) -> kj::Promise<Outcome> {
        if (changed) {
          return Outcome{.status = Status(),
                         .incarnation = nullptr,
                         .files_changed = true};
        }
        return LoadUnchanged(launch, life);
      });
}

kj::Promise<SessionLaunches::Outcome> SessionLaunches::LoadUnchanged(
    std::shared_ptr<const BackendLaunch> launch, uint32_t life) {
  auto launched = launch->Launch();
  if (!launched) {
    return BackendLaunch::HasChanged(std::move(launch))
        .then([status = launched.error()](bool changed) {
          return Outcome{.status = status,
                         .incarnation = nullptr,
                         .files_changed = changed};
        });
  }
  std::shared_ptr<Incarnation> incarnation = *std::move(launched);
  incarnation->set_life(life);
  std::erase_if(launched_, [](const auto& other) { return other.expired(); });
  launched_.push_back(incarnation);
  auto ready = incarnation->AwaitReady(context_.start_deadline);
  return ready.then([this, launch = std::move(launch),
                     incarnation = std::move(incarnation)](Status status) {
    if (status.ok()) Watch(incarnation);
    return BackendLaunch::HasChanged(launch).then(
        [status, incarnation](bool changed) {
          return Outcome{.status = status,
                         .incarnation = incarnation,
                         .files_changed = changed};
        });
  });
}

void SessionLaunches::Watch(const std::shared_ptr<Incarnation>& incarnation) {
  tasks_.add(incarnation->WhenZygoteGone().then(
      [this, watched = std::weak_ptr<Incarnation>(incarnation)] {
        if (const auto ended = watched.lock()) on_zygote_end_(*ended);
      }));
}

void SessionLaunches::KillZygotes(Code code, const std::string& reason) {
  for (const std::weak_ptr<Incarnation>& launched : launched_) {
    const auto incarnation = launched.lock();
    if (incarnation && incarnation->zygote_alive()) {
      incarnation->KillZygote(code, reason);
    }
  }
}

}  // namespace bulkhead::backend
