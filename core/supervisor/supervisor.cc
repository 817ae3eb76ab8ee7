// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/supervisor.h"

#include <capnp/message.h>

#include <algorithm>
#include <utility>

#include "core/from_ipc.h"
#include "core/status_macros.h"
#include "ipc/capnp_read.h"
#include "ipc/protocol_version.h"

namespace bulkhead::supervisor {
namespace {

namespace schema = ipc::schema;
using std::chrono::milliseconds;

// How long an application that sees its worker gone waits for the reason.
constexpr milliseconds kExitPatience{2'000};
// An answer is one packet: a directory full of broken packages must fit.
constexpr size_t kMaxDiagnostics = 100;

void SetFailure(schema::HostReply::Builder reply, const Status& status) {
  auto failure = reply.initFailed();
  failure.setCode(static_cast<schema::ErrorCode>(status.code()));
  failure.setMessage(status.message());
}

schema::Backend::State ToSchema(Backend::State state) {
  switch (state) {
    case Backend::State::kDiscovered:
      return schema::Backend::State::DISCOVERED;
    case Backend::State::kStarting:
      return schema::Backend::State::STARTING;
    case Backend::State::kReady:
      return schema::Backend::State::READY;
    case Backend::State::kBackingOff:
      return schema::Backend::State::BACKING_OFF;
    case Backend::State::kDisabled:
      break;
  }
  return schema::Backend::State::DISABLED;
}

std::vector<std::string> ToStrings(capnp::List<capnp::Text>::Reader list) {
  std::vector<std::string> strings;
  for (const auto text : list) strings.push_back(text.cStr());
  return strings;
}

// The connection is the application's: if it does not take an answer, it has
// given up on it.
void Send(EventSocket& connection, capnp::MessageBuilder& message,
          std::span<const int> descriptors = {}) {
  (void)connection.Send(message, descriptors);
}

}  // namespace

Supervisor::Supervisor(kj::UnixEventPort& port, ipc::UniqueFd application)
    : port_(port),
      root_(std::make_shared<EventSocket>(port, std::move(application))),
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
  if (!request) return kj::READY_NOW;
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
      DescribeBackends(reply.initBackends());
      break;
    case Request::OPEN_SESSION:
      return OpenSession(connection, request->getOpenSession(),
                         std::move(descriptor));
    case Request::SESSION_EXIT:
      return AnswerExit(connection, request->getSessionExit());
    case Request::CLOSE_SESSION:
      if (Backend* backend = BackendOfSession(request->getCloseSession())) {
        backend->CloseSession(request->getCloseSession());
      }
      reply.setConfigured();
      break;
    case Request::DESCRIBE_SANDBOX:
      (void)EnsureTier();
      DescribeSandbox(reply.initSandbox());
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
  context_.emplace(StartContext{
      .port = port_,
      .application_pidfd = application_pidfd_.get(),
      .reaper_path = configuration.getReaperPath().cStr(),
      .worker_path = configuration.getWorkerPath().cStr(),
      .start_deadline = milliseconds(configuration.getStartDeadlineMs()),
      .worker_deadline = milliseconds(configuration.getWorkerDeadlineMs()),
      .tier = sandbox::Tier::kNone,
      .own_uid = false});
  discovery_ = discovery::Discover(path, selection);
  for (const discovery::BackendCandidate& candidate : discovery_.backends) {
    backends_.push_back(std::make_unique<Backend>(
        candidate, static_cast<unsigned>(backends_.size()), *context_));
  }
  return Status();
}

Status Supervisor::EnsureTier() {
  if (!sandbox_) {
    sandbox_ =
        sandbox::ProbeSandbox(ipc::Deadline::After(context_->start_deadline));
    context_->tier = sandbox_->tier;
    context_->own_uid = sandbox_->own_uid;
  }
  if (sandbox_->tier >= floor_ && sandbox_->tier != sandbox::Tier::kNone) {
    return Status();
  }
  std::string reasons;
  for (const std::string& reason : sandbox_->reasons) reasons += "; " + reason;
  return Status(Code::kSandboxUnavailable,
                std::string("this machine offers sandbox tier \"") +
                    sandbox::TierName(sandbox_->tier) +
                    "\", below the floor \"" + sandbox::TierName(floor_) +
                    "\"" + reasons +
                    "; see `bulkhead doctor`, or lower BULKHEAD_SANDBOX_FLOOR "
                    "knowingly");
}

Result<Backend*> Supervisor::FindBackend(const discovery::DeviceName& device) {
  ASSIGN_OR_RETURN(const discovery::BackendCandidate* candidate,
                   discovery::FindBackend(discovery_, device));
  return backends_[candidate - discovery_.backends.data()].get();
}

Backend* Supervisor::BackendOfSession(uint64_t session) {
  for (const auto& backend : backends_) {
    if (backend->HasSession(session)) return backend.get();
  }
  return nullptr;
}

kj::Promise<void> Supervisor::OpenSession(EventSocket& connection,
                                          schema::OpenSession::Reader request,
                                          ipc::UniqueFd socket) {
  const auto fail = [&connection](const Status& status) {
    capnp::MallocMessageBuilder answer;
    SetFailure(answer.initRoot<Reply>(), status);
    Send(connection, answer);
  };
  auto device = discovery::ParseDeviceName(request.getDevice().cStr());
  if (!device) {
    fail(device.error());
    return kj::READY_NOW;
  }
  auto backend = FindBackend(*device);
  if (!backend) {
    fail(backend.error());
    return kj::READY_NOW;
  }
  if (const Status tier = EnsureTier(); !tier.ok()) {
    fail(tier);
    return kj::READY_NOW;
  }
  return (*backend)
      ->OpenSession(next_session_++, *device, std::move(socket))
      .then([this, &connection, fail, backend = *backend](auto started) {
        if (!started) {
          fail(started.error());
          return;
        }
        capnp::MallocMessageBuilder answer;
        auto reply = answer.initRoot<Reply>().initSessionStarted();
        reply.setSession(started->id);
        reply.setBackend(backend->candidate().name());
        reply.setDevice(started->device);
        reply.setDeviceOrdinal(started->device_ordinal);
        reply.setTier(static_cast<schema::Tier>(context_->tier));
        const int descriptors[] = {started->pidfd};
        Send(connection, answer, descriptors);
      });
}

kj::Promise<void> Supervisor::AnswerExit(EventSocket& connection,
                                         uint64_t session) {
  Backend* const backend = BackendOfSession(session);
  auto end = backend ? backend->SessionEnd(session, kExitPatience)
                     : kj::Promise<WorkerEnd>(
                           WorkerEnd{.kind = WorkerEnd::Kind::kUnknown});
  return end.then([&connection](WorkerEnd end) {
    using Kind = schema::ExitReport::Kind;
    capnp::MallocMessageBuilder answer;
    auto exit = answer.initRoot<Reply>().initExit();
    exit.setValue(end.value);
    exit.setZygoteAlive(end.zygote_alive);
    switch (end.kind) {
      case WorkerEnd::Kind::kRunning:
        exit.setKind(Kind::RUNNING);
        break;
      case WorkerEnd::Kind::kUnknown:
        exit.setKind(Kind::UNKNOWN);
        break;
      case WorkerEnd::Kind::kExited:
        exit.setKind(Kind::EXITED);
        break;
      case WorkerEnd::Kind::kSignaled:
        exit.setKind(Kind::SIGNALED);
        break;
      case WorkerEnd::Kind::kViolation:
        exit.setKind(Kind::VIOLATION);
        break;
    }
    Send(connection, answer);
  });
}

void Supervisor::DescribeBackends(schema::Backends::Builder out) {
  auto list = out.initBackends(backends_.size());
  for (size_t i = 0; i < backends_.size(); ++i) {
    const Backend& backend = *backends_[i];
    const discovery::BackendCandidate& candidate = backend.candidate();
    auto entry = list[i];
    entry.setName(candidate.name());
    entry.setDistribution(candidate.entry_point.distribution);
    entry.setVersion(candidate.entry_point.version);
    entry.setFile(candidate.directory + "/" + candidate.plugin_path);
    entry.setState(ToSchema(backend.state()));
    entry.setReason(backend.reason());
    const auto names = backend.devices();
    auto devices = entry.initDevices(names.size());
    for (size_t d = 0; d < names.size(); ++d) devices.set(d, names[d]);
    entry.setTier(static_cast<schema::Tier>(sandbox_->tier));
    entry.setIncarnation(backend.lives());
    if (const Incarnation* life = backend.incarnation()) {
      entry.setZygotePid(life->zygote_pid());
      entry.setReaperPid(life->reaper_alive() ? life->reaper_pid() : 0);
    }
    const auto pids = backend.session_pids();
    auto session_pids = entry.initSessionPids(pids.size());
    for (size_t p = 0; p < pids.size(); ++p) session_pids.set(p, pids[p]);
  }
  const size_t count = std::min(discovery_.diagnostics.size(), kMaxDiagnostics);
  auto diagnostics = out.initDiagnostics(count);
  for (size_t i = 0; i < count; ++i) {
    const Diagnostic& diagnostic = discovery_.diagnostics[i];
    diagnostics[i].setSeverity(
        static_cast<schema::Diagnostic::Severity>(diagnostic.severity));
    diagnostics[i].setFile(diagnostic.file);
    diagnostics[i].setLine(diagnostic.line);
    diagnostics[i].setMessage(diagnostic.message);
  }
}

void Supervisor::DescribeSandbox(schema::SandboxReport::Builder out) {
  out.setTier(static_cast<schema::Tier>(sandbox_->tier));
  auto reasons = out.initReasons(sandbox_->reasons.size());
  for (size_t i = 0; i < sandbox_->reasons.size(); ++i) {
    reasons.set(i, sandbox_->reasons[i]);
  }
  out.setLandlockAbi(sandbox_->landlock_abi);
  out.setOwnUid(sandbox_->own_uid);
}

}  // namespace bulkhead::supervisor
