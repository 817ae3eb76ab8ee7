// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/supervisor.h"

#include <capnp/message.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "core/base/application_limits.h"
#include "core/base/device_name.h"
#include "core/base/from_ipc.h"
#include "core/base/status_macros.h"
#include "core/control/exit_messages.h"
#include "core/supervisor/own_files.h"
#include "core/supervisor/sandbox/policy.h"
#include "core/supervisor/sockets/replies.h"
#include "ipc/capnp_read.h"
#include "ipc/protocol_version.h"
#include "ipc/unique_fd.h"

namespace bulkhead::supervisor {
namespace {

namespace schema = ipc::schema;
using std::chrono::milliseconds;

// One message has at most the memory of a session and its media.
constexpr size_t kMostDescriptors = 4;
// The pidfd of the application, the reaper and the worker.
constexpr size_t kWithPrograms = 3;

std::vector<std::string> ToStrings(capnp::List<capnp::Text>::Reader list) {
  std::vector<std::string> strings;
  for (const auto text : list) strings.push_back(text.cStr());
  return strings;
}

// What a launch opens besides what it shows in the sandbox: programs, sockets,
// files of the distribution.
constexpr size_t kFilesOfALaunch = 24;

sandbox::SandboxReport WithoutDescriptors() {
  const std::string evidence = "too few descriptors are free to try it";
  sandbox::SandboxReport report;
  report.gaps = {{.missing = "the whole sandbox",
                  .evidence = evidence,
                  .remedy = "raise the hard limit on open files (ulimit -Hn)",
                  .cost = "no backend starts"}};
  report.exhausted = Status(Code::kResourceExhausted, evidence);
  return report;
}

Status CannotTry(const Status& exhausted) {
  if (exhausted.code() == Code::kDeadlineExceeded) {
    return exhausted.WithContext(
        "cannot find out what sandbox this machine offers");
  }
  const std::string low = LowLimits();
  return Status(
      Code::kResourceExhausted,
      "cannot find out what sandbox this machine offers: " +
          exhausted.message() + "; " +
          (low.empty()
               ? "raise the hard limit on open files (ulimit -Hn) or on "
                 "processes "
                 "(ulimit -u), whichever ran out, and start the application "
                 "again"
               : RaiseTheLimits(low)));
}

}  // namespace

Supervisor::Supervisor(kj::UnixEventPort& port, ipc::UniqueFd application,
                       pid_t application_pid)
    : port_(port),
      root_(std::make_shared<EventSocket>(port, std::move(application))),
      places_(port),
      events_(application_pid),
      ending_(port),
      application_pid_(application_pid),
      born_(port.getTimer().now()),
      tasks_(*this) {}

void Supervisor::taskFailed(kj::Exception&&) {
  // An exception of kj's on one connection. The others go on.
}

kj::Promise<void> Supervisor::Run() {
  auto paf = kj::newPromiseAndFulfiller<void>();
  gone_ = kj::mv(paf.fulfiller);
  // The root connection closes when the application ends or drops its Host.
  return Serve(root_).exclusiveJoin(kj::mv(paf.promise));
}

kj::Promise<void> Supervisor::Serve(std::shared_ptr<EventSocket> connection) {
  return connection->Receive(kMostDescriptors)
      .then([this, connection](auto received) -> kj::Promise<void> {
        const auto unread = unread_.extract(connection.get());
        if (!received || !*received) {
          if (unread) {
            // The application may have read the answer, and the request that
            // followed it failed here: it learns of the end of its worker.
            CloseSession(unread.mapped().session);
            ends_.Tell(unread.mapped().end, unread.mapped().session);
          }
          return kj::READY_NOW;
        }
        return Answer(*connection, **std::move(received))
            .then([this, connection] { return Serve(connection); });
      });
}

kj::Promise<void> Supervisor::Answer(EventSocket& connection,
                                     ipc::ReceivedMessage message) {
  auto request = message.root<Request>();
  // Every other request needs what the first message, `configure`, brings.
  if (!request || (!request->isConfigure() && !catalog_)) return kj::READY_NOW;
  return AskPlacesFor(*request).then(
      [this, &connection, message = std::move(message)]() mutable {
        return AnswerAtOnce(connection, std::move(message));
      });
}

kj::Promise<void> Supervisor::AskPlacesFor(Request::Reader request) {
  const auto ask = [this](const std::string& device) -> kj::Promise<void> {
    const auto name = discovery::ParseDeviceName(device);
    if (!name) return kj::READY_NOW;
    return catalog_->AskPlaces(*name);
  };
  switch (request.which()) {
    case Request::OPEN_SESSION:
      return ask(request.getOpenSession().getDevice().cStr());
    case Request::PREPARE:
      return ask(request.getPrepare().cStr());
    case Request::FIND_DEVICE:
      return ask(request.getFindDevice().cStr());
    case Request::SHADOW:
      return ask(request.getShadow().getAgainst().cStr());
    case Request::FAILED_OVER:
      return ask(request.getFailedOver().getDevice().cStr());
    case Request::LIST_BACKENDS:
      return catalog_->AskPlaces();
    case Request::DESCRIBE_HOST:
      return catalog_->LookEverywhere();
    default:
      return kj::READY_NOW;
  }
}

kj::Promise<void> Supervisor::AnswerAtOnce(EventSocket& connection,
                                           ipc::ReceivedMessage message) {
  auto request = message.root<Request>();
  if (request->isOpenSession()) {
    return OpenSession(connection, request->getOpenSession(),
                       std::move(message.descriptors));
  }
  if (request->isCountSessions()) {
    Acknowledge(connection, ShareCounters(message.descriptors));
    return kj::READY_NOW;
  }
  ipc::UniqueFd descriptor;
  if (!message.descriptors.empty()) {
    descriptor = std::move(message.descriptors[0]);
  }
  capnp::MallocMessageBuilder answer;
  auto reply = answer.initRoot<Reply>();
  switch (request->which()) {
    case Request::CONFIGURE: {
      const Status status =
          Configure(request->getConfigure(), std::move(descriptor),
                    std::move(message.descriptors));
      if (status.ok()) {
        return LoadAgain(request->getConfigure()).then([&connection] {
          Acknowledge(connection, Status());
        });
      }
      SetFailure(reply, status);
      break;
    }
    case Request::CONNECT:
      tasks_.add(
          Serve(std::make_shared<EventSocket>(port_, std::move(descriptor))));
      reply.setConfigured();
      break;
    case Request::LIST_BACKENDS:
      // A report is made even where the tier is too low to start anything.
      (void)EnsureTier();
      catalog_->Describe(sandbox_->tier, reply.initBackends());
      shadows_->Describe(reply.getBackends().getBackends());
      break;
    case Request::OPEN_SESSION:
    case Request::COUNT_SESSIONS:
      break;
    case Request::SESSION_EXIT:
      return AnswerExit(connection, request->getSessionExit());
    case Request::END_WORKER:
      return AnswerEnd(connection, request->getEndWorker());
    case Request::ATTACH_POOL:
      return AttachPool(connection, request->getAttachPool(),
                        std::move(descriptor));
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
    case Request::FIND_DEVICE: {
      const auto name =
          discovery::ParseDeviceName(request->getFindDevice().cStr());
      const auto found = name ? catalog_->Find(*name)
                              : Result<Catalog::BackendPointer>(name.error());
      found ? reply.setDeviceFound((*found)->candidate().name())
            : SetFailure(reply, found.error());
      break;
    }
    case Request::FAILED_OVER:
      NoteFailover(request->getFailedOver());
      reply.setConfigured();
      break;
    case Request::CLOSE_SESSION:
      CloseSession(request->getCloseSession());
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
    case Request::DESCRIBE_HOST:
      DescribeHost(reply.initHost());
      break;
    case Request::SHADOW:
      StartShadow(request->getShadow(), std::move(descriptor),
                  std::move(message.descriptors));
      reply.setConfigured();
      break;
  }
  Send(connection, answer);
  return kj::READY_NOW;
}

Status Supervisor::Configure(schema::Configuration::Reader configuration,
                             ipc::UniqueFd application_pidfd,
                             std::vector<ipc::UniqueFd> descriptors) {
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
      .exec = ToStrings(configuration.getExec()),
      .autoload_rule = configuration.getAutoloadRule().cStr(),
      .enabled_rule = configuration.getEnabledRule().cStr(),
      .disabled_rule = configuration.getDisabledRule().cStr(),
      .exec_rule = configuration.getExecRule().cStr()};
  std::vector<discovery::SearchDirectory> path;
  for (const auto directory : configuration.getPluginPath()) {
    path.push_back({directory.getPath().cStr(), directory.getOrigin().cStr(),
                    directory.getBuiltIn()});
  }
  requirements_ = {
      .floor = static_cast<sandbox::Tier>(configuration.getFloor()),
      .memory_cgroup = configuration.getRequireMemoryCgroup()};
  cgroup_ = configuration.getCgroup().cStr();
  grants_ = grants::GrantReader(ToStrings(configuration.getGrantFiles()));
  quarantine_.emplace(configuration.getStateDirectory().cStr());
  disabled_.emplace(configuration.getStateDirectory().cStr());
  crashes_.emplace(configuration.getStateDirectory().cStr(),
                   application_pidfd_.get());
  // Behind the pidfd, the application sends both programs or none.
  const bool has_programs = descriptors.size() == kWithPrograms;
  InstalledProgram reaper{
      .path = configuration.getReaperPath().cStr(),
      .file = has_programs ? std::move(descriptors[1]) : ipc::UniqueFd()};
  InstalledProgram worker{
      .path = configuration.getWorkerPath().cStr(),
      .file = has_programs ? std::move(descriptors[2]) : ipc::UniqueFd()};
  context_.emplace(StartContext{
      .port = port_,
      .places = places_,
      .application_pidfd = application_pidfd_.get(),
      .reaper = std::move(reaper),
      .worker = std::move(worker),
      .start_deadline = milliseconds(configuration.getStartDeadlineMs()),
      .worker_deadline = milliseconds(configuration.getWorkerDeadlineMs()),
      .attempts_per_position = configuration.getAttemptsPerPosition(),
      .failures_per_backend = configuration.getFailuresPerBackend(),
      .tier = sandbox::Tier::kNone,
      .own_uid = false,
      .forbidden = sandbox::Forbidden::kKill,
      .reads_memory = false,
      .held_parts = held_parts_,
      .task_limits = task_limits_,
      .cgroup = {},
      .grants = grants_,
      .quarantine = *quarantine_,
      .disabled = *disabled_,
      .events = events_,
      .crashes = *crashes_,
      .killed = killed_,
      .ending = ending_,
      .counters = counters_,
      .counts = counts_,
      .met_media = met_media_});
  catalog_.emplace(std::move(path), std::move(selection), *context_);
  shadows_.emplace(*context_);
  // Without this socket the application lacks nothing, only operators do.
  if (auto socket = OperatorSocket::Listen(application_pid_)) {
    operators_.emplace(
        port_, *std::move(socket),
        [this](std::shared_ptr<EventSocket> peer) {
          return ServeOperator(std::move(peer),
                               {.since = port_.getTimer().now()});
        },
        static_cast<kj::TaskSet::ErrorHandler&>(*this));
  }
  return Status();
}

kj::Promise<void> Supervisor::LoadAgain(
    schema::Configuration::Reader configuration) {
  kj::Promise<void> loaded = kj::READY_NOW;
  for (const auto load : configuration.getLoads()) {
    // A Host that was restarted repeats its loads. What is wrong with one was
    // said when the application asked for it first.
    loaded = loaded.then([this, path = std::string(load.getPath().cStr()),
                          name = std::string(load.getEntryPoint().cStr())] {
      return catalog_->Load(path, name).ignoreResult();
    });
  }
  if (!configuration.getEager()) return loaded;
  return loaded.then([this] {
    tasks_.add(catalog_->LookEverywhere().then([this] { StartAll(); }));
  });
}

void Supervisor::StartAll() {
  if (!EnsureTier().ok()) return;
  for (const Catalog::BackendPointer& backend : catalog_->Usable()) {
    tasks_.add(backend->lifecycle().EnsureReady().ignoreResult().attach(
        Catalog::BackendPointer(backend)));
  }
}

Status Supervisor::CheckSpareFiles() const {
  // In a sandbox of tier full each path is mounted from a descriptor of its
  // own.
  const auto shown = sandbox::MakePolicy(sandbox::Plugin(), {});
  size_t needed = kFilesOfALaunch;
  if (shown) {
    needed += static_cast<size_t>(std::count_if(
        shown->visible.begin(), shown->visible.end(), [](const auto& path) {
          return path.kind != sandbox::VisiblePath::Kind::kSymlink;
        }));
  }
  if (CanOpen(needed)) return Status();
  return TooFewFiles("find and start a backend, which takes " +
                     std::to_string(needed));
}

Status Supervisor::EnsureTier() {
  // The probe makes namespaces and takes time, so it waits for the first
  // request that needs its result.
  if (!sandbox_ || !sandbox_->exhausted.ok()) {
    // The machine is not to blame for what such a probe would find.
    if (Status spare = CheckSpareFiles(); !spare.ok()) {
      // What is told to operators is there in any case.
      if (!sandbox_) sandbox_ = WithoutDescriptors();
      return spare;
    }
    sandbox_ = sandbox::ProbeSandbox(
        ipc::Deadline::After(context_->start_deadline), cgroup_);
    context_->tier = sandbox_->tier;
    context_->own_uid = sandbox_->own_uid;
    context_->forbidden = sandbox_->forbidden;
    context_->reads_memory = sandbox_->reads_memory;
    context_->cgroup = sandbox_->cgroup;
  }
  // The machine is not to blame for what such a probe found.
  if (!sandbox_->exhausted.ok()) return CannotTry(sandbox_->exhausted);
  return sandbox::CheckRequirements(requirements_, *sandbox_);
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
  out.setMemoryCgroupRequired(requirements_.memory_cgroup);
}

}  // namespace bulkhead::supervisor
