// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/backend/backend.h"

#include <utility>

#include "core/supervisor/backend/backend_launch.h"

namespace bulkhead::backend {

Backend::Backend(discovery::BackendCandidate candidate, unsigned number,
                 const StartContext& context, BackendKeeper& keeper)
    : context_(context),
      lifecycle_(std::move(candidate), number, context, keeper),
      external_events_(lifecycle_, context.places),
      workers_(
          this->candidate().name(), context.worker_deadline,
          // No session would take a spare: each has a zygote of its own, or all
          // share one worker.
          StartsByExec(this->candidate()) || SharesWorker(this->candidate())
              ? Workers::Spare::kNone
              : Workers::Spare::kOne,
          context.killed, context.task_limits),
      counts_(context.counts.Of(this->candidate().name())),
      book_(context.counters, context.events, counts_),
      exit_judge_(lifecycle_, workers_, book_, context.crashes, counts_) {}

kj::Promise<Result<Backend::PlacedSession>> Backend::OpenSession(
    uint64_t id, const DeviceName& device, bool alone,
    records::SessionOrigin origin) {
  using Started = Result<PlacedSession>;
  const auto placing = !alone && SharesWorker(candidate())
                           ? Workers::Placing::kShared
                           : Workers::Placing::kAlone;
  // Keeps a draining backend until the session has failed or is placed.
  ++opening_;
  // A replaced backend is not started again: its zygote still makes clones.
  auto ready = lifecycle_.continues_streams() ? kj::Promise<Status>(Status())
                                              : lifecycle_.EnsureReady();
  return ready
      .then([this, id, device, placing, origin = std::move(origin)](
                Status ready) mutable -> kj::Promise<Started> {
        if (!ready.ok()) return Started(std::move(ready));
        auto found = lifecycle_.devices().Find(device);
        if (!found) return Started(std::move(found).error());
        return AwaitDevice(found->text())
            .then([this, id, placing, counted = *found,
                   origin = std::move(origin)](
                      Status usable) mutable -> kj::Promise<Started> {
              if (!usable.ok()) return Started(std::move(usable));
              return PlaceSession(id, placing, counted, std::move(origin));
            });
      })
      .attach(kj::defer([this] {
        --opening_;
        NoteSessionsEnded();
      }));
}

kj::Promise<Status> Backend::AwaitDevice(const std::string& device) {
  const auto left = lifecycle_.blame().DeviceTimeLeft(device);
  if (left == std::chrono::nanoseconds(0)) return Status();
  if (left > Lifecycle::kLongestWait) {
    return Status(Code::kBackendUnavailable,
                  "the device " + device + " of the backend " +
                      candidate().name() +
                      " was lost again and again; retry later, or use another");
  }
  return context_.port.getTimer()
      .afterDelay(left.count() * kj::NANOSECONDS)
      // The backend may have ended meanwhile, and the device may be lost again.
      .then([this] { return lifecycle_.EnsureReady(); })
      .then([this, device](Status ready) -> kj::Promise<Status> {
        if (!ready.ok()) return ready;
        return AwaitDevice(device);
      });
}

kj::Promise<Result<Backend::PlacedSession>> Backend::PlaceSession(
    uint64_t id, Workers::Placing placing, const CountedDevice& device,
    records::SessionOrigin origin) {
  using Placed = Result<Workers::Placed>;
  return lifecycle_.ForSession()
      .then([this, id, placing,
             memory = origin.memory](auto incarnation) -> kj::Promise<Placed> {
        if (!incarnation) return Placed(std::move(incarnation).error());
        return workers_.Serve(id, placing, memory, *std::move(incarnation));
      })
      .then([this, id, placing, device, origin = std::move(origin)](
                auto placed) mutable -> Result<PlacedSession> {
        if (!placed) return std::move(placed).error();
        book_.Add(id, device.text(), std::move(origin), lifecycle_.Now());
        return PlacedSession{
            .session = {.id = id,
                        .device_ordinal = device.ordinal,
                        .device = device.text(),
                        .pidfd = placed->pidfd,
                        .shared = placing == Workers::Placing::kShared},
            .socket = std::move(placed->socket)};
      });
}

void Backend::FrameDelivered(uint64_t id, InputPosition position) {
  if (const records::SessionBook::Session* session = book_.Find(id)) {
    lifecycle_.blame().FrameDelivered(session->origin.input, position);
  }
}

void Backend::CloseSession(uint64_t id) {
  // Counts new frames first: once the session is removed, its counter may be
  // given to another session.
  exit_judge_.AcquitByFrames();
  book_.Remove(id, lifecycle_.Now());
  workers_.Close(id);
  NoteSessionsEnded();
}

std::vector<PoisonedPosition> Backend::Refused(const std::string& input) {
  return lifecycle_.blame().Refused(input);
}

kj::Promise<Status> Backend::Prepare(const DeviceName& device) {
  return lifecycle_.EnsureReady().then([this, device](Status ready) -> Status {
    if (!ready.ok()) return ready;
    const auto found = lifecycle_.devices().Find(device);
    return found ? Status() : found.error();
  });
}

std::vector<DescribedDevice> Backend::devices() const {
  if (lifecycle_.state() == BackendState::kDraining) return {};
  return lifecycle_.devices().Describe();
}

void Backend::NoteSessionsEnded() {
  if (!busy()) lifecycle_.Raise(BackendEvent::kSessionsEnded);
}

kj::Promise<void> Backend::WhenDrained() {
  auto drained = lifecycle_.WhenDrained();
  NoteSessionsEnded();
  return drained;
}

std::vector<Backend::OpenedSession> Backend::sessions() const {
  std::vector<OpenedSession> opened;
  for (const auto& [id, session] : book_.all()) {
    opened.push_back({.id = id,
                      .device = session.device,
                      .origin = session.origin,
                      .worker_pid = workers_.pid(id),
                      .own_processes = StartsByExec(candidate())
                                           ? workers_.IncarnationOf(id)
                                           : nullptr});
  }
  return opened;
}

}  // namespace bulkhead::backend
