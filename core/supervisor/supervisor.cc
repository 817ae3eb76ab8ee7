// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/supervisor.h"

#include <capnp/message.h>

#include <algorithm>
#include <utility>

#include "core/base/from_ipc.h"
#include "core/base/status_macros.h"
#include "core/control/exit_messages.h"
#include "core/supervisor/sockets/replies.h"
#include "ipc/capnp_read.h"
#include "ipc/protocol_version.h"

namespace bulkhead::supervisor {
namespace {

namespace schema = ipc::schema;
using std::chrono::milliseconds;

// How long an application that sees its worker gone waits for the reason.
constexpr milliseconds kExitPatience{2'000};
// Positions of one input at which it is refused, that its session is told.
constexpr size_t kMaxPoisoned = 32;

std::vector<std::string> ToStrings(capnp::List<capnp::Text>::Reader list) {
  std::vector<std::string> strings;
  for (const auto text : list) strings.push_back(text.cStr());
  return strings;
}

Backend::ReportedExit ToReportedExit(schema::SessionEnd::Reader end) {
  using Seen = schema::SessionEnd::Seen;
  HostObservation observed = HostObservation::kDied;
  if (end.getSeen() == Seen::LATE) observed = HostObservation::kMissedDeadline;
  if (end.getSeen() == Seen::LIED) observed = HostObservation::kBrokeProtocol;
  return {.id = end.getSession(),
          .observed = observed,
          .met_media = end.getMetMedia(),
          .position = ToPosition(end.getPosition()),
          .facts = ToSessionFacts(end)};
}

}  // namespace

Supervisor::Supervisor(kj::UnixEventPort& port, ipc::UniqueFd application,
                       pid_t application_pid)
    : port_(port),
      root_(std::make_shared<EventSocket>(port, std::move(application))),
      application_pid_(application_pid),
      born_(port.getTimer().now()),
      tasks_(*this) {}

void Supervisor::taskFailed(kj::Exception&&) {
  // A connection broke in a way of kj's; the others go on.
}

kj::Promise<void> Supervisor::Run() {
  auto paf = kj::newPromiseAndFulfiller<void>();
  gone_ = kj::mv(paf.fulfiller);
  // The root connection closes when the application ends or drops its Host.
  return Serve(root_).exclusiveJoin(kj::mv(paf.promise));
}

kj::Promise<void> Supervisor::Serve(std::shared_ptr<EventSocket> connection) {
  return connection->Receive(1).then([this, connection](
                                         auto received) -> kj::Promise<void> {
    if (!received || !*received) return kj::READY_NOW;
    return Answer(*connection, **std::move(received)).then([this, connection] {
      return Serve(connection);
    });
  });
}

kj::Promise<void> Supervisor::Answer(EventSocket& connection,
                                     ipc::ReceivedMessage message) {
  auto request = message.root<Request>();
  // Everything but the first message needs what that one brings.
  if (!request || (!request->isConfigure() && !catalog_)) return kj::READY_NOW;
  ipc::UniqueFd descriptor;
  if (!message.descriptors.empty()) {
    descriptor = std::move(message.descriptors[0]);
  }
  capnp::MallocMessageBuilder answer;
  auto reply = answer.initRoot<Reply>();
  switch (request->which()) {
    case Request::CONFIGURE: {
      const Status status =
          Configure(request->getConfigure(), std::move(descriptor));
      status.ok() ? reply.setConfigured() : SetFailure(reply, status);
      break;
    }
    case Request::CONNECT:
      tasks_.add(
          Serve(std::make_shared<EventSocket>(port_, std::move(descriptor))));
      reply.setConfigured();
      break;
    case Request::LIST_BACKENDS:
      (void)EnsureTier();
      catalog_->Describe(sandbox_->tier, reply.initBackends());
      break;
    case Request::OPEN_SESSION:
      return OpenSession(connection, request->getOpenSession(),
                         std::move(descriptor));
    case Request::SESSION_EXIT:
      return AnswerExit(connection, request->getSessionExit());
    case Request::CONFIRM_SESSION: {
      const auto backend = catalog_->OfSession(request->getConfirmSession());
      const Status status =
          backend ? backend->ConfirmSession(request->getConfirmSession())
                  : Status(Code::kBackendLost, "there is no such session");
      status.ok() ? reply.setConfigured() : SetFailure(reply, status);
      break;
    }
    case Request::FRAME_DELIVERED: {
      const auto delivered = request->getFrameDelivered();
      if (auto backend = catalog_->OfSession(delivered.getSession())) {
        backend->FrameDelivered(delivered.getSession(),
                                ToPosition(delivered.getPosition()));
      }
      reply.setConfigured();
      break;
    }
    case Request::CRASH_OUTCOME: {
      const auto told = request->getCrashOutcome();
      for (const uint64_t crash : told.getCrashes()) {
        crashes_->SetOutcome(crash, told.getOutcome().cStr());
      }
      reply.setConfigured();
      break;
    }
    case Request::CLOSE_SESSION:
      if (auto backend = catalog_->OfSession(request->getCloseSession())) {
        backend->CloseSession(request->getCloseSession());
      }
      reply.setConfigured();
      break;
    case Request::DESCRIBE_SANDBOX:
      (void)EnsureTier();
      DescribeSandbox(reply.initSandbox());
      break;
    case Request::PREPARE:
      return Prepare(connection, request->getPrepare().cStr());
    case Request::LOAD:
      return Load(connection, request->getLoad().getPath().cStr(),
                  request->getLoad().getEntryPoint().cStr());
    case Request::COMMAND:
      return Command(connection, request->getCommand());
    case Request::NEXT_EVENTS:
      return AnswerEvents(connection, request->getNextEvents());
    case Request::COUNT_SESSIONS: {
      const Status status = ShareCounters(descriptor);
      status.ok() ? reply.setConfigured() : SetFailure(reply, status);
      break;
    }
    case Request::DESCRIBE_HOST:
      DescribeHost(reply.initHost());
      break;
  }
  Send(connection, answer);
  return kj::READY_NOW;
}

Status Supervisor::Configure(schema::Configuration::Reader configuration,
                             ipc::UniqueFd application_pidfd) {
  if (configuration.getProtocolVersion() != ipc::kProtocolVersion) {
    return Status(Code::kInvalidArgument,
                  "bulkheadd and libbulkhead are of different versions; "
                  "install both from one release");
  }
  if (context_ || !application_pidfd) {
    return Status(Code::kInternal, "configured twice or without a pidfd");
  }
  application_pidfd_ = std::move(application_pidfd);
  application_observer_ = kj::heap<kj::UnixEventPort::FdObserver>(
      port_, application_pidfd_.get(),
      kj::UnixEventPort::FdObserver::OBSERVE_READ);
  tasks_.add(application_observer_->whenBecomesReadable().then(
      [this] { gone_->fulfill(); }));

  discovery::Selection selection{
      .autoload = configuration.getAutoload(),
      .enabled = ToStrings(configuration.getEnabled()),
      .disabled = ToStrings(configuration.getDisabled()),
      .autoload_rule = configuration.getAutoloadRule().cStr(),
      .enabled_rule = configuration.getEnabledRule().cStr(),
      .disabled_rule = configuration.getDisabledRule().cStr()};
  std::vector<discovery::SearchDirectory> path;
  for (const auto directory : configuration.getPluginPath()) {
    path.push_back({directory.getPath().cStr(), directory.getOrigin().cStr(),
                    directory.getBuiltIn()});
  }
  floor_ = static_cast<sandbox::Tier>(configuration.getFloor());
  cgroup_ = configuration.getCgroup().cStr();
  grants_ = grants::GrantReader(ToStrings(configuration.getGrantFiles()));
  quarantine_.emplace(configuration.getStateDirectory().cStr());
  crashes_.emplace(configuration.getStateDirectory().cStr(),
                   application_pidfd_.get());
  context_.emplace(StartContext{
      .port = port_,
      .application_pidfd = application_pidfd_.get(),
      .reaper_path = configuration.getReaperPath().cStr(),
      .worker_path = configuration.getWorkerPath().cStr(),
      .start_deadline = milliseconds(configuration.getStartDeadlineMs()),
      .worker_deadline = milliseconds(configuration.getWorkerDeadlineMs()),
      .attempts_per_position = configuration.getAttemptsPerPosition(),
      .failures_per_backend = configuration.getFailuresPerBackend(),
      .tier = sandbox::Tier::kNone,
      .own_uid = false,
      .forbidden = sandbox::Forbidden::kKill,
      .cgroup = {},
      .grants = grants_,
      .quarantine = *quarantine_,
      .events = events_,
      .crashes = *crashes_,
      .killed = killed_,
      .counters = counters_});
  catalog_.emplace(std::move(path), std::move(selection), *context_);
  for (const auto load : configuration.getLoads()) {
    // What is wrong with it was said when it was loaded first.
    (void)catalog_->Load(load.getPath().cStr(), load.getEntryPoint().cStr());
  }
  // Without it only operators miss something.
  if (auto socket = OperatorSocket::Listen(application_pid_)) {
    operators_.emplace(
        port_, *std::move(socket),
        [this](std::shared_ptr<EventSocket> peer) {
          return ServeOperator(std::move(peer),
                               {.since = port_.getTimer().now()});
        },
        static_cast<kj::TaskSet::ErrorHandler&>(*this));
  }
  if (configuration.getEager() && EnsureTier().ok()) {
    for (const Catalog::BackendPointer& backend : catalog_->Usable()) {
      tasks_.add(backend->lifecycle().EnsureReady().ignoreResult().attach(
          Catalog::BackendPointer(backend)));
    }
  }
  return Status();
}

Status Supervisor::EnsureTier() {
  if (!sandbox_) {
    sandbox_ = sandbox::ProbeSandbox(
        ipc::Deadline::After(context_->start_deadline), cgroup_);
    context_->tier = sandbox_->tier;
    context_->own_uid = sandbox_->own_uid;
    context_->forbidden = sandbox_->forbidden;
    context_->cgroup = sandbox_->cgroup;
  }
  if (sandbox_->tier >= floor_ && sandbox_->tier != sandbox::Tier::kNone) {
    return Status();
  }
  return Status(Code::kSandboxUnavailable,
                std::string("this machine offers sandbox tier \"") +
                    sandbox::TierName(sandbox_->tier) +
                    "\", below the floor \"" + sandbox::TierName(floor_) +
                    "\"; " + sandbox_->gaps.front().Sentence() +
                    "; `bulkhead doctor` says what to do about it, or lower "
                    "BULKHEAD_SANDBOX_FLOOR knowingly");
}

Result<Catalog::BackendPointer> Supervisor::FindBackend(
    const std::string& device) {
  ASSIGN_OR_RETURN(const discovery::DeviceName name,
                   discovery::ParseDeviceName(device));
  ASSIGN_OR_RETURN(Catalog::BackendPointer backend, catalog_->Find(name));
  RETURN_IF_ERROR(EnsureTier());
  return backend;
}

kj::Promise<void> Supervisor::Prepare(EventSocket& connection,
                                      const std::string& device) {
  auto backend = FindBackend(device);
  if (!backend) {
    Fail(connection, backend.error());
    return kj::READY_NOW;
  }
  return (*backend)
      ->Prepare(*discovery::ParseDeviceName(device))
      .then([&connection](Status status) { Acknowledge(connection, status); })
      .attach(Catalog::BackendPointer(*backend));
}

kj::Promise<void> Supervisor::Load(EventSocket& connection,
                                   const std::string& path,
                                   const std::string& entry_point) {
  auto backends = catalog_->Load(path, entry_point);
  const Status tier = backends ? EnsureTier() : backends.error();
  if (!tier.ok()) {
    Fail(connection, tier);
    return kj::READY_NOW;
  }
  auto starts = kj::heapArrayBuilder<kj::Promise<Status>>(backends->size());
  for (const Catalog::BackendPointer& backend : *backends) {
    starts.add(backend->lifecycle().EnsureReady());
  }
  return kj::joinPromises(starts.finish())
      .then([&connection, backends = *backends](kj::Array<Status> statuses) {
        for (const Status& status : statuses) {
          if (!status.ok()) return Fail(connection, status);
        }
        size_t count = 0;
        for (const auto& backend : backends) count += backend->devices().size();
        capnp::MallocMessageBuilder answer;
        auto loaded = answer.initRoot<Reply>().initLoaded(count);
        for (const auto& backend : backends) {
          for (const auto& device : backend->devices()) {
            auto entry = loaded[loaded.size() - count--];
            entry.setName(device.name);
            entry.setDescription(device.description);
            entry.setBackend(backend->candidate().name());
          }
        }
        Send(connection, answer);
      });
}

kj::Promise<void> Supervisor::OpenSession(EventSocket& connection,
                                          schema::OpenSession::Reader request,
                                          ipc::UniqueFd socket) {
  auto backend = FindBackend(request.getDevice().cStr());
  if (!backend) {
    Fail(connection, backend.error());
    return kj::READY_NOW;
  }
  if (const Status able = catalog_->CheckDecodes(
          **backend, request.getAudio() ? discovery::StreamKind::kAudio
                                        : discovery::StreamKind::kVideo);
      !able.ok()) {
    Fail(connection, able);
    return kj::READY_NOW;
  }
  const std::string input = request.getInput().cStr();
  const auto refused = (*backend)->Refused(input);
  // They are in their order, and opening comes first.
  if (!refused.empty() && refused[0].position == InputPosition()) {
    capnp::MallocMessageBuilder answer;
    Write(refused[0], answer.initRoot<Reply>().initPoisoned());
    Send(connection, answer);
    return kj::READY_NOW;
  }
  return (*backend)
      ->OpenSession(next_session_++,
                    *discovery::ParseDeviceName(request.getDevice().cStr()),
                    request.getAlone(),
                    {.input = input,
                     .path = request.getPath().cStr(),
                     .counter = request.getCounter(),
                     .worker_bytes = request.getWorkerBytes()},
                    std::move(socket))
      .then([this, &connection, input, backend = *backend](auto started) {
        if (!started) return Fail(connection, started.error());
        capnp::MallocMessageBuilder answer;
        auto reply = answer.initRoot<Reply>().initSessionStarted();
        reply.setSession(started->id);
        reply.setBackend(backend->candidate().name());
        reply.setDevice(started->device);
        reply.setDeviceOrdinal(started->device_ordinal);
        reply.setTier(static_cast<schema::Tier>(context_->tier));
        reply.setShared(started->shared);
        const auto refused = backend->Refused(input);
        auto poisoned =
            reply.initPoisoned(std::min(refused.size(), kMaxPoisoned));
        for (size_t i = 0; i < poisoned.size(); ++i) {
          Write(refused[i], poisoned[i]);
        }
        const int descriptors[] = {started->pidfd};
        Send(connection, answer, descriptors);
      })
      .attach(Catalog::BackendPointer(*backend));
}

kj::Promise<void> Supervisor::AnswerExit(EventSocket& connection,
                                         schema::SessionEnd::Reader seen) {
  const Catalog::BackendPointer backend =
      catalog_->OfSession(seen.getSession());
  auto verdict =
      backend ? backend->JudgeExit(ToReportedExit(seen), kExitPatience)
              : kj::Promise<Backend::ExitVerdict>(Backend::ExitVerdict());
  return verdict
      .then([&connection](const Backend::ExitVerdict& verdict) {
        capnp::MallocMessageBuilder answer;
        auto reply = answer.initRoot<Reply>().initExit();
        Write(verdict.report, reply.initReport());
        reply.setBlamed(verdict.culprit != Culprit::kNobody);
        reply.setInputToBlame(verdict.culprit == Culprit::kInput);
        reply.setDeviceToBlame(verdict.culprit == Culprit::kDevice);
        reply.setDeathsHere(verdict.deaths_here);
        Send(connection, answer);
      })
      .attach(Catalog::BackendPointer(backend));
}

void Supervisor::DescribeSandbox(schema::SandboxReport::Builder out) {
  out.setTier(static_cast<schema::Tier>(sandbox_->tier));
  auto gaps = out.initGaps(sandbox_->gaps.size());
  for (size_t i = 0; i < sandbox_->gaps.size(); ++i) {
    const sandbox::SandboxGap& gap = sandbox_->gaps[i];
    gaps[i].setMissing(gap.missing);
    gaps[i].setEvidence(gap.evidence);
    gaps[i].setRemedy(gap.remedy);
    gaps[i].setCost(gap.cost);
  }
  out.setLandlockAbi(sandbox_->landlock_abi);
  out.setOwnUid(sandbox_->own_uid);
  const sandbox::CgroupParent& cgroup = sandbox_->cgroup;
  out.setCgroup(cgroup.directory);
  auto controllers = out.initCgroupControllers(cgroup.controllers.size());
  for (size_t i = 0; i < cgroup.controllers.size(); ++i) {
    controllers.set(i, cgroup.controllers[i]);
  }
}

}  // namespace bulkhead::supervisor
