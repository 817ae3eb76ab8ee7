// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/backend/backend.h"

#include <utility>

#include "core/control/exit_report.h"
#include "core/supervisor/backend/backend_launch.h"

namespace bulkhead::backend {
namespace {

using std::chrono::milliseconds;

// The longest time that a session waits for a lost device instead of failing.
constexpr milliseconds kLongestWait{1'000};

}  // namespace

Backend::Backend(discovery::BackendCandidate candidate, unsigned number,
                 const StartContext& context, BackendKeeper& keeper)
    : context_(context),
      lifecycle_(std::move(candidate), number, context, keeper),
      workers_(
          this->candidate().name(), context.worker_deadline,
          // With start = "exec" a zygote has one session.
          StartsByExec(this->candidate()) || SharesWorker(this->candidate())
              ? Workers::Spare::kNone
              : Workers::Spare::kOne,
          context.killed, context.task_limits),
      counts_(context.counts.Of(this->candidate().name())),
      book_(context.counters, context.events, counts_) {}

kj::Promise<Result<Backend::PlacedSession>> Backend::OpenSession(
    uint64_t id, const DeviceName& device, bool alone,
    records::SessionOrigin origin) {
  using Started = Result<PlacedSession>;
  const auto placing = !alone && SharesWorker(candidate())
                           ? Workers::Placing::kShared
                           : Workers::Placing::kAlone;
  // Keeps a draining backend until the session has failed or is placed.
  ++opening_;
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
                      Status there) mutable -> kj::Promise<Started> {
              if (!there.ok()) return Started(std::move(there));
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
  if (left > kLongestWait) {
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

kj::Promise<Backend::JudgedExit> Backend::JudgeExit(
    const ReportedExit& reported, milliseconds timeout) {
  return workers_.AwaitEnd(reported.id, timeout)
      .then([this, reported](blame::ProcessExit exit) {
        exit.says_device_lost = reported.facts.claim.device_lost;
        exit.says_backend_failed = reported.facts.claim.backend_failed;
        return Investigate(reported, std::move(exit));
      })
      .then([this, reported](const blame::ProcessExit& exit) {
        return Judge(reported, exit);
      });
}

kj::Promise<blame::ProcessExit> Backend::Investigate(
    const ReportedExit& reported, blame::ProcessExit exit) {
  if (exit.took_all_tasks) return exit;
  return workers_.MakeRoomForTasks().then(
      [this, reported, exit = std::move(exit)](
          Workers::Tasks tasks) mutable -> kj::Promise<blame::ProcessExit> {
        exit.lacked_tasks |= tasks != Workers::Tasks::kEnough;
        return CheckDevice(reported, std::move(exit));
      });
}

kj::Promise<blame::ProcessExit> Backend::CheckDevice(
    const ReportedExit& reported, blame::ProcessExit exit) {
  const records::SessionBook::Session* session = book_.Find(reported.id);
  // A device matters only where it would be counted as lost.
  exit.device_found_lost = true;
  const bool counts = session && blame::CulpritOf(exit, reported.observed,
                                                  reported.met_media) ==
                                     blame::Culprit::kDevice;
  exit.device_found_lost = false;
  if (!counts) return exit;
  return lifecycle_.CheckDevice(session->device, session->opened)
      .then([exit = std::move(exit)](Trials::DeviceFate fate) mutable {
        exit.device_found_lost = fate.lost;
        exit.device_lost_by_others = fate.together;
        return std::move(exit);
      });
}

Backend::JudgedExit Backend::Judge(const ReportedExit& reported,
                                   const blame::ProcessExit& exit) {
  JudgedExit verdict{.report = blame::ToReport(exit),
                     .lacked_tasks = exit.lacked_tasks};
  AddClaim(reported.facts.claim, verdict.report);
  const bool stopped =
      reported.observed == blame::HostObservation::kFoundStopped;
  if (stopped || reported.observed == blame::HostObservation::kMissedDeadline) {
    verdict.report.kind = ExitReport::Kind::kDeadline;
  } else if (reported.observed == blame::HostObservation::kBrokeProtocol) {
    verdict.report.kind = ExitReport::Kind::kProtocolViolation;
  }
  blame::WorkerDeath death{.exit = exit,
                           .observed = reported.observed,
                           .met_media = reported.met_media,
                           .position = reported.position};
  const records::SessionBook::Session* session = book_.Find(reported.id);
  if (session) {
    death.input = session->origin.input;
    death.device = session->device;
    death.opened = session->opened;
  }
  // Frames that arrived before this death speak for the backend.
  AcquitByFrames();
  blame::Blame& blame = lifecycle_.blame();
  // A session that was closed while its worker's end was awaited has no input
  // and no device to blame any more.
  verdict.culprit =
      session ? blame.Attribute(death)
              : blame::CulpritOf(exit, reported.observed, reported.met_media);
  // The record comes between the two, since it names the culprit, and since
  // sessions that are refused later get the record's number.
  std::string more;
  records::SessionFacts facts = reported.facts;
  if (exit.took_all_tasks) {
    facts.cause =
        "it had more than its share of the backend's tasks, and "
        "others had none";
    more = "; " + facts.cause;
  }
  if (stopped) more = "; another process had stopped it";
  if (records::CrashRecorder::IsWorthy(exit, verdict.culprit)) {
    records::EndedBackend ended =
        lifecycle_.Ended(workers_.IncarnationOf(reported.id));
    ended.worker_log = workers_.LogOf(reported.id);
    verdict.report.crash = context_.crashes.RecordWorker(
        ended, facts, verdict.culprit, verdict.report);
    if (verdict.report.crash == 0) more += context_.crashes.See(0);
  }
  ++worker_ends_;
  if (!exit.told) {
    const WorkerEnd end =
        records::WorkerEndOf(exit, reported.observed, verdict.culprit);
    ++counts_.worker_ends[static_cast<size_t>(end)];
  }
  book_.NoteWorkerEnd(reported.id, verdict.report, more, lifecycle_.Now());
  if (session || verdict.culprit == blame::Culprit::kBackend) {
    const size_t refused = blame.Refused(death.input).size();
    verdict.deaths_here = blame.Count(death, verdict.culprit, verdict.report);
    if (blame.Refused(death.input).size() > refused) ++counts_.poisoned_inputs;
  }
  return verdict;
}

void Backend::AcquitByFrames() {
  for (const records::SessionBook::Source& source : book_.TakeNewFrames()) {
    lifecycle_.blame().NoteFrame(source.device, source.input);
  }
}

void Backend::FrameDelivered(uint64_t id, InputPosition position) {
  if (const records::SessionBook::Session* session = book_.Find(id)) {
    lifecycle_.blame().FrameDelivered(session->origin.input, position);
  }
}

void Backend::CloseSession(uint64_t id) {
  // Before the session's counter is another session's.
  AcquitByFrames();
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
  if (!busy()) lifecycle_.SessionsEnded();
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
