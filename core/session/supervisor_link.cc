// SPDX-License-Identifier: Apache-2.0
#include "core/session/supervisor_link.h"

#include <capnp/message.h>
#include <capnp/serialize.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "core/end_messages.h"
#include "core/from_ipc.h"
#include "core/session/poisoned_input.h"
#include "core/session/report_reading.h"
#include "core/status_macros.h"
#include "ipc/capnp_read.h"
#include "ipc/protocol_version.h"

namespace bulkhead::session {
namespace {

namespace schema = ipc::schema;

// On top of what bulkheadd itself waits for, so that its answer, which names
// the cause, arrives before we give up on it.
constexpr std::chrono::milliseconds kSlack{2'000};
// Of a list of all backends and diagnostics.
constexpr size_t kMaxReplyBytes = size_t{64} << 20;

Status FromFailure(schema::Failure::Reader failure) {
  return Status(FromIpc(static_cast<ipc::Code>(failure.getCode())),
                failure.getMessage().cStr());
}

Status Unexpected() {
  return Status(Code::kInternal,
                "the supervisor gave an answer of another "
                "kind than was asked for");
}

void FillTexts(capnp::List<capnp::Text>::Builder list,
               const std::vector<std::string>& texts) {
  for (size_t i = 0; i < texts.size(); ++i) list.set(i, texts[i]);
}

}  // namespace

SupervisorLink::SupervisorLink(SupervisorSettings settings)
    : settings_(std::move(settings)), owner_(::getpid()) {}

Result<std::shared_ptr<SupervisorLink>> SupervisorLink::Start(
    SupervisorSettings settings) {
  std::shared_ptr<SupervisorLink> link(new SupervisorLink(std::move(settings)));
  std::lock_guard lock(link->mutex_);
  RETURN_IF_ERROR(link->StartLocked());
  return link;
}

Status SupervisorLink::StartLocked() {
  ASSIGN_OR_RETURN(process_,
                   StartSupervisor(settings_.libexec_dir + "/bulkheadd"));
  const ipc::UniqueFd self(
      static_cast<int>(::syscall(SYS_pidfd_open, owner_, 0)));
  if (!self) {
    return Status(Code::kUnsupported,
                  "this kernel has no pidfd_open; Linux 5.3 is the minimum");
  }
  const int descriptors[] = {self.get()};
  RETURN_IF_ERROR(Exchange(
      process_.control.get(),
      [this](Request::Builder request) {
        auto configuration = request.initConfigure();
        configuration.setProtocolVersion(ipc::kProtocolVersion);
        const auto& path = settings_.plugin_path.directories;
        auto directories = configuration.initPluginPath(path.size());
        for (size_t i = 0; i < path.size(); ++i) {
          directories[i].setPath(path[i].path);
          directories[i].setOrigin(path[i].origin);
          directories[i].setBuiltIn(path[i].built_in);
        }
        const discovery::Selection& selection = settings_.selection;
        configuration.setAutoload(selection.autoload);
        configuration.setAutoloadRule(selection.autoload_rule);
        configuration.setEnabledRule(selection.enabled_rule);
        configuration.setDisabledRule(selection.disabled_rule);
        FillTexts(configuration.initEnabled(selection.enabled.size()),
                  selection.enabled);
        FillTexts(configuration.initDisabled(selection.disabled.size()),
                  selection.disabled);
        configuration.setEager(settings_.eager);
        const auto grant_files = settings_.grant_files.all();
        auto grants = configuration.initGrantFiles(grant_files.size());
        for (size_t i = 0; i < grant_files.size(); ++i) {
          grants.set(i, grant_files[i].path);
        }
        auto loads = configuration.initLoads(loads_.size());
        for (size_t i = 0; i < loads_.size(); ++i) {
          loads[i].setPath(loads_[i].path);
          loads[i].setEntryPoint(loads_[i].entry_point);
        }
        configuration.setFloor(static_cast<schema::Tier>(settings_.floor));
        configuration.setCgroup(settings_.cgroup);
        configuration.setReaperPath(settings_.libexec_dir + "/bulkhead-reaper");
        configuration.setWorkerPath(settings_.libexec_dir + "/bulkhead-worker");
        configuration.setStartDeadlineMs(
            settings_.deadlines.backend_start.count());
        configuration.setWorkerDeadlineMs(
            settings_.deadlines.worker_start.count());
        configuration.setAttemptsPerPosition(
            settings_.limits.attempts_per_position);
        configuration.setFailuresPerBackend(
            settings_.limits.failures_per_backend);
        configuration.setStateDirectory(settings_.state_directory);
      },
      descriptors, ipc::Deadline::After(settings_.deadlines.supervisor_start),
      [](Reply::Reader reply, ipc::ReceivedMessage&) {
        return reply.isConfigured() ? Status() : Unexpected();
      }));
  idle_.clear();
  alive_ = true;
  ++generation_;
  return Status();
}

std::chrono::milliseconds SupervisorLink::StartPatience() const {
  return settings_.deadlines.backend_start +
         2 * settings_.deadlines.worker_start + kSlack;
}

pid_t SupervisorLink::pid() const {
  std::lock_guard lock(mutex_);
  return process_.pid;
}

Result<SupervisorLink::Connection> SupervisorLink::Acquire() {
  if (::getpid() != owner_) {
    return Status(Code::kInvalidArgument,
                  "a Host belongs to the process that created it; create "
                  "another after fork()");
  }
  std::lock_guard lock(mutex_);
  // Twice: the first connect may be what notices the death.
  for (int attempt = 0; attempt < 2; ++attempt) {
    if (!alive_) RETURN_IF_ERROR(StartLocked());
    if (!idle_.empty()) {
      Connection connection = std::move(idle_.back());
      idle_.pop_back();
      return connection;
    }
    ASSIGN_OR_RETURN(auto sockets, FromIpc(ipc::MakeSocketPair()));
    const int descriptors[] = {sockets.second.get()};
    const Status status = Exchange(
        process_.control.get(),
        [](Request::Builder request) { request.setConnect(); }, descriptors,
        ipc::Deadline::After(settings_.deadlines.supervisor_start),
        [](Reply::Reader, ipc::ReceivedMessage&) { return Status(); });
    if (status.ok()) return Connection{std::move(sockets.first), generation_};
    if (status.code() != Code::kBackendLost) return status;
    alive_ = false;
  }
  return Status(Code::kBackendLost, "the supervisor bulkheadd dies at once");
}

void SupervisorLink::Return(Connection connection) {
  std::lock_guard lock(mutex_);
  if (alive_ && connection.generation == generation_) {
    idle_.push_back(std::move(connection));
  }
}

void SupervisorLink::Lost(uint64_t generation) {
  std::lock_guard lock(mutex_);
  if (generation == generation_) alive_ = false;
}

Status SupervisorLink::Exchange(int socket, const Fill& fill,
                                std::span<const int> fds,
                                ipc::Deadline deadline, const Take& take,
                                bool* answered) {
  capnp::MallocMessageBuilder message;
  fill(message.initRoot<Request>());
  if (auto sent = ipc::SendMessage(socket, message, fds, deadline); !sent) {
    // Whatever stops a send to a trusted peer, the peer is not there any more.
    return Status(Code::kBackendLost,
                  "the supervisor bulkheadd is gone: " + sent.error().message);
  }
  auto received = ipc::ReceiveMessage(socket, ipc::kMaxDescriptors, deadline);
  if (!received) return FromIpc(std::move(received).error());
  if (!*received) {
    return Status(Code::kBackendLost, "the supervisor bulkheadd died");
  }
  if (answered) *answered = true;
  ipc::ReceivedMessage& answer = **received;
  const auto read = [&](Reply::Reader reply) -> Status {
    if (reply.isFailed()) return FromFailure(reply.getFailed());
    return take(reply, answer);
  };
  auto status = ipc::ReadCatching([&]() -> Status {
    auto reply = answer.root<Reply>();
    if (!reply) return FromIpc(std::move(reply).error());
    if (!reply->isElsewhere()) return read(*reply);
    if (answer.descriptors.size() != 1) return Unexpected();
    // Written from its start and not read since.
    ::lseek(answer.descriptors[0].get(), 0, SEEK_SET);
    capnp::StreamFdMessageReader elsewhere(
        answer.descriptors[0].get(),
        {.traversalLimitInWords = kMaxReplyBytes / sizeof(capnp::word)});
    return read(elsewhere.getRoot<Reply>());
  });
  return status ? *std::move(status) : FromIpc(std::move(status).error());
}

Status SupervisorLink::Call(const Fill& fill, std::span<const int> fds,
                            std::chrono::milliseconds timeout, const Take& take,
                            uint64_t* generation) {
  ASSIGN_OR_RETURN(Connection connection, Acquire());
  if (generation) *generation = connection.generation;
  bool answered = false;
  const Status status =
      Exchange(connection.socket.get(), fill, fds,
               ipc::Deadline::After(timeout), take, &answered);
  if (status.code() == Code::kBackendLost && !answered) {
    Lost(connection.generation);
  } else if (status.code() != Code::kDeadlineExceeded) {
    // After a missed deadline a late answer would be taken for the next one's.
    Return(std::move(connection));
  }
  return status;
}

Result<StartedWorker> SupervisorLink::OpenSession(const SessionRequest& asked,
                                                  int worker_socket) {
  StartedWorker worker;
  const int descriptors[] = {worker_socket};
  RETURN_IF_ERROR(Call(
      [&](Request::Builder request) {
        auto session = request.initOpenSession();
        session.setDevice(asked.device);
        session.setAlone(asked.alone);
        session.setInput(asked.input);
      },
      descriptors, StartPatience(),
      [&](Reply::Reader reply, ipc::ReceivedMessage& message) {
        if (reply.isPoisoned()) {
          return RefusalOf(ToPoisoned(reply.getPoisoned()), asked.device);
        }
        if (!reply.isSessionStarted() || message.descriptors.size() != 1) {
          return Unexpected();
        }
        const auto started = reply.getSessionStarted();
        worker.session = started.getSession();
        worker.backend = started.getBackend().cStr();
        worker.device = started.getDevice().cStr();
        worker.device_ordinal = started.getDeviceOrdinal();
        worker.pidfd = std::move(message.descriptors[0]);
        worker.shared = started.getShared();
        for (const auto poisoned : started.getPoisoned()) {
          worker.poisoned.push_back(ToPoisoned(poisoned));
        }
        return Status();
      },
      &worker.generation));
  return worker;
}

bool SupervisorLink::StillServes(const StartedWorker& worker) const {
  // Another bulkheadd numbers its sessions anew, and need not be started to be
  // asked about a worker that it never had.
  std::lock_guard lock(mutex_);
  return alive_ && generation_ == worker.generation;
}

Status SupervisorLink::ConfirmSession(const StartedWorker& worker) {
  if (!StillServes(worker)) {
    return Status(Code::kBackendLost, "the supervisor bulkheadd died");
  }
  return Call(
      [&](Request::Builder request) {
        request.setConfirmSession(worker.session);
      },
      {}, settings_.deadlines.worker_start,
      [](Reply::Reader reply, ipc::ReceivedMessage&) {
        return reply.isConfigured() ? Status() : Unexpected();
      });
}

WorkerExit SupervisorLink::SessionExit(const StartedWorker& worker,
                                       const SeenEnd& seen) {
  // What we killed it for is its fault, whoever else may know of it.
  WorkerExit exit{.blamed = seen.how != SeenEnd::How::kDied};
  uint64_t generation = 0;
  WorkerExit told;
  const auto ask = [&](Request::Builder request) {
    auto end = request.initSessionExit();
    end.setSession(worker.session);
    end.setDevice(worker.device);
    Write(seen, end);
  };
  const auto take = [&](Reply::Reader reply, ipc::ReceivedMessage&) {
    if (!reply.isExit()) return Unexpected();
    told.report = ToExitReport(reply.getExit().getReport());
    told.blamed = reply.getExit().getBlamed();
    told.deaths_here = reply.getExit().getDeathsHere();
    return Status();
  };
  if (StillServes(worker) &&
      Call(ask, {}, kSlack + kSlack, take, &generation).ok() &&
      generation == worker.generation) {
    exit = std::move(told);
  }
  exit.report.backend = worker.backend;
  exit.report.device = worker.device;
  return exit;
}

void SupervisorLink::FrameDelivered(const StartedWorker& worker,
                                    const InputPosition& position) {
  if (!StillServes(worker)) return;
  // If it fails, what was counted expires by itself.
  (void)Call(
      [&](Request::Builder request) {
        auto delivered = request.initFrameDelivered();
        delivered.setSession(worker.session);
        Write(position, delivered.initPosition());
      },
      {}, kSlack,
      [](Reply::Reader, ipc::ReceivedMessage&) { return Status(); });
}

void SupervisorLink::TellOutcome(const std::vector<uint64_t>& crashes,
                                 const std::string& outcome) {
  {
    std::lock_guard lock(mutex_);
    // Another one has not made them.
    if (!alive_) return;
  }
  (void)Call(
      [&](Request::Builder request) {
        auto told = request.initCrashOutcome();
        auto list = told.initCrashes(crashes.size());
        for (size_t i = 0; i < crashes.size(); ++i) list.set(i, crashes[i]);
        told.setOutcome(outcome);
      },
      {}, kSlack,
      [](Reply::Reader, ipc::ReceivedMessage&) { return Status(); });
}

void SupervisorLink::CloseSession(const StartedWorker& worker) {
  if (!StillServes(worker)) return;
  // If it fails the worker still ends: its socket closes with the session.
  (void)Call(
      [&](Request::Builder request) {
        request.setCloseSession(worker.session);
      },
      {}, kSlack,
      [](Reply::Reader, ipc::ReceivedMessage&) { return Status(); });
}

Status SupervisorLink::Prepare(const std::string& device) {
  return Call([&](Request::Builder request) { request.setPrepare(device); }, {},
              StartPatience(),
              [](Reply::Reader reply, ipc::ReceivedMessage&) {
                return reply.isConfigured() ? Status() : Unexpected();
              });
}

Result<std::vector<DeviceInfo>> SupervisorLink::Load(const ExplicitLoad& load) {
  std::vector<DeviceInfo> devices;
  const Status status = Call(
      [&](Request::Builder request) {
        auto out = request.initLoad();
        out.setPath(load.path);
        out.setEntryPoint(load.entry_point);
      },
      {}, StartPatience(),
      [&](Reply::Reader reply, ipc::ReceivedMessage&) {
        if (!reply.isLoaded()) return Unexpected();
        devices = ToDevices(reply.getLoaded());
        return Status();
      });
  // One that is there but broken stays registered too.
  if (status.ok() || status.code() == Code::kBackendUnavailable) {
    std::lock_guard lock(mutex_);
    if (std::find(loads_.begin(), loads_.end(), load) == loads_.end()) {
      loads_.push_back(load);
    }
  }
  if (!status.ok()) return status;
  return devices;
}

Result<BackendReport> SupervisorLink::Backends() {
  BackendReport report;
  report.diagnostics = settings_.plugin_path.diagnostics;
  const Diagnostics& grants = settings_.grant_files.diagnostics;
  report.diagnostics.insert(report.diagnostics.end(), grants.begin(),
                            grants.end());
  RETURN_IF_ERROR(
      Call([](Request::Builder request) { request.setListBackends(); }, {},
           settings_.deadlines.supervisor_start,
           [&](Reply::Reader reply, ipc::ReceivedMessage&) {
             if (!reply.isBackends()) return Unexpected();
             AddTo(report, reply.getBackends());
             return Status();
           }));
  return report;
}

Result<SandboxReport> SupervisorLink::Sandbox() {
  SandboxReport report{};
  RETURN_IF_ERROR(
      Call([](Request::Builder request) { request.setDescribeSandbox(); }, {},
           settings_.deadlines.backend_start,
           [&](Reply::Reader reply, ipc::ReceivedMessage&) {
             if (!reply.isSandbox()) return Unexpected();
             report = ToReport(reply.getSandbox());
             return Status();
           }));
  return report;
}

}  // namespace bulkhead::session
