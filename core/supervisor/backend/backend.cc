// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/backend/backend.h"

#include <algorithm>
#include <random>
#include <utility>

#include "core/control/exit_report.h"
#include "core/supervisor/backend/object_verification.h"

namespace bulkhead::supervisor {
namespace {

using std::chrono::milliseconds;
using State = BackendState;
using Event = BackendEvent;
using Action = BackendAction;
using Kind = bulkhead::Event::Kind;

// Of a backoff that a session waits for instead of failing: shorter than any
// deadline, longer than those of the first failures.
constexpr milliseconds kLongestWait{1'000};

std::string DeviceText(const std::string& name, uint32_t index) {
  return name + ":" + std::to_string(index);
}

RestartLimits LimitsOf(const StartContext& context) {
  RestartLimits limits;
  limits.backend.failures = context.failures_per_backend;
  limits.start.failures = context.failures_per_backend;
  return limits;
}

RestartPolicy::Random MakeRandom() {
  return [engine = std::minstd_rand(std::random_device()())]() mutable {
    return std::uniform_real_distribution<double>(0, 1)(engine);
  };
}

}  // namespace

Backend::Backend(discovery::BackendCandidate candidate, unsigned number,
                 const StartContext& context)
    : candidate_(std::move(candidate)),
      number_(number),
      context_(context),
      state_(candidate_.usable() ? State::kDiscovered : State::kDisabled),
      policy_(NewPolicy()),
      inputs_(context.attempts_per_position),
      workers_(candidate_.name(), context.worker_deadline, context.killed) {
  if (candidate_.usable()) return;
  reason_ = candidate_.reason;
  refusal_ = Status(Code::kBackendUnavailable, candidate_.reason);
}

RestartPolicy Backend::NewPolicy() const {
  return RestartPolicy(LimitsOf(context_), MakeRandom());
}

BackendAction Backend::Raise(Event event) {
  const BackendStep step = Next(state_, event);
  if (step.next != state_) NoteState();
  state_ = step.next;
  return step.action;
}

RestartPolicy::Time Backend::Now() const {
  const kj::Duration since =
      context_.port.getTimer().now() - kj::origin<kj::TimePoint>();
  return RestartPolicy::Time(std::chrono::nanoseconds(since / kj::NANOSECONDS));
}

const Incarnation* Backend::incarnation() const {
  if (state_ == State::kStarting) return start_->incarnation().get();
  return current_.get();
}

std::vector<Backend::DescribedDevice> Backend::devices() const {
  std::vector<DescribedDevice> described;
  if (state_ == State::kDraining) return described;
  const auto add = [&](const std::string& name, const std::string& words) {
    described.push_back({discovery::CallersName(candidate_, name), words});
  };
  for (const CountedDevice& device : devices_) {
    add(DeviceText(device.name, device.index), device.description);
  }
  if (!devices_.empty()) return described;
  for (const std::string& name : candidate_.manifest.devices) add(name, "");
  return described;
}

bool Backend::serving() const {
  return state_ == State::kStarting || state_ == State::kReady;
}

bool Backend::BeginsAnew() const {
  return Next(state_, Event::kFilesChanged).action == Action::kBeginAnew;
}

kj::Promise<Result<Backend::StartedSession>> Backend::OpenSession(
    uint64_t id, const discovery::DeviceName& device, bool alone,
    SessionOrigin origin, ipc::UniqueFd socket) {
  using Started = Result<StartedSession>;
  const auto placing = !alone && SharesWorker(candidate_)
                           ? Workers::Placing::kShared
                           : Workers::Placing::kAlone;
  ++opening_;
  return EnsureReady()
      .then([this, id, device, placing, origin = std::move(origin),
             socket = std::move(socket)](
                Status ready) mutable -> kj::Promise<Started> {
        if (!ready.ok()) return Started(std::move(ready));
        auto found = FindDevice(device);
        if (!found) return Started(std::move(found).error());
        const std::string text = DeviceText(found->name, found->index);
        return AwaitDevice(text).then(
            [this, id, placing, ordinal = found->ordinal, text,
             origin = std::move(origin), socket = std::move(socket)](
                Status there) mutable -> kj::Promise<Started> {
              if (!there.ok()) return Started(std::move(there));
              return PlaceSession(id, placing, ordinal, text, std::move(origin),
                                  std::move(socket));
            });
      })
      .attach(kj::defer([this] {
        --opening_;
        NoteSessionsEnded();
      }));
}

kj::Promise<Result<Backend::StartedSession>> Backend::PlaceSession(
    uint64_t id, Workers::Placing placing, uint32_t ordinal,
    const std::string& device, SessionOrigin origin, ipc::UniqueFd socket) {
  if (!current_) {
    // What a session takes for another try.
    return Result<StartedSession>(
        Status(Code::kBackendLost,
               "the backend " + candidate_.name() + " is being started anew"));
  }
  return workers_
      .Serve(id, placing, origin.worker_bytes, current_, std::move(socket))
      .then([this, id, placing, ordinal, device, origin = std::move(origin)](
                auto pidfd) mutable -> Result<StartedSession> {
        if (!pidfd) return std::move(pidfd).error();
        const SessionCounter* counter = context_.counters.Find(origin.counter);
        sessions_[id] = {.device = device,
                         .origin = std::move(origin),
                         .opened = Now(),
                         .frames = counter ? counter->frames.load() : 0};
        NoteSession(Kind::kSessionOpened, id);
        return StartedSession{.id = id,
                              .device_ordinal = ordinal,
                              .device = device,
                              .pidfd = *pidfd,
                              .shared = placing == Workers::Placing::kShared};
      });
}

kj::Promise<Backend::SessionExit> Backend::EndSession(
    const SeenSessionEnd& seen, milliseconds timeout) {
  return workers_.AwaitEnd(seen.id, timeout)
      .then([this, seen](const WorkerEnd& end) {
        SessionExit exit{.report = ToReport(end)};
        AddClaim(seen.facts.claim, exit.report);
        if (seen.seen != SeenEnd::kDied) {
          exit.report.kind = seen.seen == SeenEnd::kLate
                                 ? ExitReport::Kind::kDeadline
                                 : ExitReport::Kind::kProtocolViolation;
        }
        const auto session = sessions_.find(seen.id);
        Culprit culprit = CulpritOf(end, seen.seen, seen.met_media);
        if (culprit == Culprit::kInput && session != sessions_.end()) {
          culprit = InputOrOwn(session->second.origin.input);
        }
        if (CrashRecorder::IsWorthy(end, culprit)) {
          exit.report.crash = context_.crashes.RecordWorker(
              Ended(workers_.IncarnationOf(seen.id)), seen.facts, culprit,
              exit.report);
        }
        exit.culprit = culprit;
        ++worker_ends_;
        NoteSession(Kind::kWorkerEnded, seen.id, &exit.report);
        if (culprit == Culprit::kInput && session != sessions_.end()) {
          exit.deaths_here = inputs_.Died(session->second.origin.input,
                                          seen.position, exit.report, Now());
        }
        if (culprit == Culprit::kDevice) CountDeviceLoss(seen.id);
        if (culprit == Culprit::kBackend && seen.seen == SeenEnd::kLied) {
          CountFailure(Code::kBackendMisbehaved, "a worker broke the protocol");
        } else if (culprit == Culprit::kBackend) {
          CountFailure(Code::kBackendUnavailable,
                       (seen.met_media
                            ? "its workers die of any media: "
                            : "a worker died before it was given any media: ") +
                           DescribeExit(exit.report));
        }
        return exit;
      });
}

void Backend::FrameDelivered(uint64_t id, InputPosition position) {
  const auto session = sessions_.find(id);
  if (session == sessions_.end()) return;
  inputs_.Delivered(session->second.origin.input, position);
}

void Backend::CloseSession(uint64_t id) {
  NoteSession(Kind::kSessionClosed, id);
  NoteFrames();
  sessions_.erase(id);
  workers_.Close(id);
  NoteSessionsEnded();
}

std::vector<PoisonedPosition> Backend::Refused(const std::string& input) {
  return inputs_.Refused(input, Now());
}

kj::Promise<Status> Backend::EnsureReady() {
  if (state_ == State::kReady && !current_->zygote_alive()) {
    // How it ended is about to be known, and decides what comes next.
    return KJ_ASSERT_NONNULL(zygote_gone_).addBranch().then([this] {
      return EnsureReady();
    });
  }
  if (BackoffIsOver()) Raise(Event::kBackoffOver);
  if (recorded_ && !context_.quarantine.Find(ObjectPath(candidate_)) &&
      Raise(Event::kQuarantineLifted) == Action::kForgive) {
    Forget();
  }
  switch (Raise(Event::kDeviceAsked)) {
    case Action::kStart:
      return BeginStart();
    case Action::kJoinStart:
      return AwaitStart();
    case Action::kServe:
      return Status();
    case Action::kAwaitBackoff:
      return AwaitBackoff();
    default:
      return refusal_;
  }
}

bool Backend::BackoffIsOver() const {
  if (state_ != State::kBackingOff) return false;
  // What was granted meanwhile may be what it lacked.
  return !policy_.backs_off(Now()) ||
         (start_ && Granted().effective != start_->granted());
}

kj::Promise<Status> Backend::AwaitBackoff() {
  // A start that failed would fail again.
  if (!current_) return refusal_;
  const auto left = policy_.retry_at() - Now();
  if (left > kLongestWait) return refusal_;
  const auto delay = std::chrono::nanoseconds(left).count() * kj::NANOSECONDS;
  return context_.port.getTimer().afterDelay(delay).then(
      [this] { return EnsureReady(); });
}

kj::Promise<Status> Backend::BeginStart() {
  current_.reset();
  start_ = std::make_shared<BackendStart>(candidate_, number_, context_);
  starting_ = start_->Run()
                  .then([this, start = start_](Status status) {
                    return FinishStart(*start, status);
                  })
                  .fork();
  return AwaitStart();
}

kj::Promise<Status> Backend::AwaitStart() {
  return KJ_ASSERT_NONNULL(starting_).addBranch().then(
      [this, start = start_](Status status) -> kj::Promise<Status> {
        if (start->abandoned()) return EnsureReady();
        return status;
      });
}

Status Backend::FinishStart(BackendStart& start, const Status& status) {
  auto incarnation = start.TakeIncarnation();
  if (incarnation) incarnation->set_life(++lives_);
  if (start.abandoned()) return status;
  if (!status.ok()) return FailStart(status, incarnation.get());
  if (Raise(Event::kBecameReady) == Action::kStop) return refusal_;
  policy_.BecameReady(Now());
  reason_.clear();
  current_ = std::move(incarnation);
  devices_ = start_->devices();
  zygote_gone_ = current_->WhenZygoteGone()
                     .then([this, life = lives_] { OnZygoteGone(life); })
                     .eagerlyEvaluate(nullptr)
                     .fork();
  return Status();
}

Status Backend::FailStart(const Status& cause, Incarnation* incarnation) {
  if (start_->quarantine()) {
    recorded_ = true;
    EnterQuarantine(cause.code(), cause.message());
    return refusal_;
  }
  std::string text = cause.message();
  if (incarnation && !incarnation->log_tail().empty()) {
    std::string log = incarnation->log_tail();
    std::replace(log.begin(), log.end(), '\n', ' ');
    text += "; it wrote: " + log;
  }
  const auto missing =
      Missing(candidate_.manifest.permissions, Granted().effective);
  if (!missing.empty()) {
    text += "; it asks for what nobody granted: bulkhead grant " +
            candidate_.name() + " " + ToArguments(missing);
  }
  const auto culprit = start_->culprit();
  if (incarnation && culprit) {
    text += SeeCrash(
        context_.crashes.RecordStart(Ended(incarnation), *culprit, cause));
  }
  reason_ = text;
  if (culprit == Culprit::kNobody) {
    Raise(Event::kStartLost);
    return LoadFailure(Code::kBackendLost, text);
  }
  Raise(Event::kStartFailed);
  refusal_ = LoadFailure(cause.code() == Code::kSandboxUnavailable ||
                                 cause.code() == Code::kNotFound
                             ? cause.code()
                             : Code::kBackendUnavailable,
                         text);
  if (!culprit) {
    policy_.Declined(Now());
  } else if (policy_.Failed(*culprit, Now()) ==
             RestartPolicy::Verdict::kQuarantine) {
    Quarantine(Code::kBackendUnavailable, text);
  }
  return refusal_;
}

void Backend::OnZygoteGone(uint32_t life) {
  if (life != lives_ || !current_) return;
  NoteZygoteEnd();
  if (current_->zygote_lost()) {
    Raise(Event::kZygoteLost);
    return;
  }
  if (Raise(Event::kZygoteFailed) != Action::kBackOff) return;
  context_.crashes.RecordZygote(Ended(current_.get()));
  CountFailure(Code::kBackendUnavailable, current_->zygote_end());
}

EndedBackend Backend::Ended(Incarnation* incarnation) const {
  return {
      .candidate = candidate_,
      .incarnation = incarnation,
      .tier = context_.tier,
      .deadline_ms = static_cast<uint32_t>(context_.start_deadline.count())};
}

void Backend::CountFailure(Code code, const std::string& what) {
  const auto verdict = policy_.Failed(Culprit::kBackend, Now());
  if (verdict == RestartPolicy::Verdict::kQuarantine) {
    Quarantine(code, what);
  } else if (state_ == State::kBackingOff) {
    reason_ = what;
    refusal_ = Status(Code::kBackendUnavailable,
                      "the backend " + candidate_.name() +
                          " waits before it is started again, since its "
                          "process ended: " +
                          what + "; retry later");
  }
}

void Backend::Quarantine(Code code, const std::string& why) {
  EnterQuarantine(code, why);
  if (state_ != State::kQuarantined) return;
  recorded_ = false;
  recording_ =
      RecordQuarantine({.backend = candidate_.name(),
                        .path = ObjectPath(candidate_),
                        .bytes = candidate_.plugin_identity.bytes,
                        .modified_ns = candidate_.plugin_identity.modified_ns,
                        .hash = "",
                        .code = code,
                        .reason = why})
          .eagerlyEvaluate(nullptr);
}

void Backend::EnterQuarantine(Code code, const std::string& why) {
  if (Raise(Event::kQuarantined) != Action::kStop) return;
  reason_ = "quarantined, since it failed too often, at last so: " + why +
            "; it is tried again when its files change or after `bulkhead "
            "restart " +
            candidate_.name() + "`";
  refusal_ =
      code == Code::kBackendMisbehaved
          ? Status(code, "the backend " + candidate_.name() + " is " + reason_)
          : LoadFailure(code, reason_);
  EndZygote(code, "it was quarantined");
}

kj::Promise<void> Backend::RecordQuarantine(QuarantineRecord record) {
  // Fails if the files have changed meanwhile, and then there is nothing to
  // record.
  auto opened = discovery::OpenBackend(candidate_);
  if (!opened) return kj::READY_NOW;
  const int object = opened->plugin.get();
  return HashObject(context_.port.getTimer(), object)
      .then([this, opened = *std::move(opened),
             record = std::move(record)](auto hash) mutable {
        if (!hash) return;
        record.hash = *std::move(hash);
        recorded_ = context_.quarantine.Add(record).ok() &&
                    context_.quarantine.Find(record.path);
      });
}

Status Backend::LoadFailure(Code code, const std::string& cause) const {
  EntryPoint entry_point = candidate_.entry_point;
  entry_point.file = ObjectPath(candidate_);
  return Status(code, discovery::LoadFailureMessage(entry_point, cause));
}

kj::Promise<Status> Backend::Prepare(const discovery::DeviceName& device) {
  return EnsureReady().then([this, device](Status ready) -> Status {
    if (!ready.ok()) return ready;
    const auto found = FindDevice(device);
    return found ? Status() : found.error();
  });
}

Granting Backend::Granted() const {
  return GrantTo(candidate_, context_.grants.Latest(),
                 start_ ? start_->hash_verdicts() : HashVerdicts());
}

std::vector<std::string> Backend::DescribeGrants(
    Diagnostics& diagnostics) const {
  const Granting granting = Granted();
  if (!candidate_.usable()) return GrantedTexts(granting);
  diagnostics.insert(diagnostics.end(), granting.diagnostics.begin(),
                     granting.diagnostics.end());
  const std::string manifest = candidate_.dist_info + "/bulkhead.toml";
  std::vector<std::string> problems;
  for (const auto& path : Resolve(granting.effective, problems).paths) {
    std::string obstacle = sandbox::ObstacleTo(path, context_.own_uid);
    if (!obstacle.empty()) problems.push_back(std::move(obstacle));
  }
  for (const std::string& problem : problems) {
    diagnostics.push_back(
        {Diagnostic::Severity::kWarning, manifest, 0,
         "the backend " + candidate_.name() +
             " does not get all that was granted: " + problem});
  }
  if (state_ != State::kReady) return GrantedTexts(granting);
  if (granting.effective != start_->granted()) {
    diagnostics.push_back({Diagnostic::Severity::kNote, manifest, 0,
                           "the grants of the backend " + candidate_.name() +
                               " have changed since it was started; they "
                               "count from its next start"});
  }
  return ToTexts(start_->granted());
}

Result<CountedDevice> Backend::FindDevice(
    const discovery::DeviceName& name) const {
  for (const CountedDevice& device : devices_) {
    if (device.name == name.name && device.index == name.index.value_or(0)) {
      return device;
    }
  }
  std::string known;
  for (const DescribedDevice& device : devices()) known += " " + device.name;
  return Status(Code::kNotFound, "there is no device " + name.ToString() +
                                     "; the backend has:" + known);
}

}  // namespace bulkhead::supervisor
