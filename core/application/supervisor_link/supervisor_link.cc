// SPDX-License-Identifier: Apache-2.0
#include "core/application/supervisor_link/supervisor_link.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "core/application/supervisor_link/input_refusal.h"
#include "core/application/supervisor_link/report_reading.h"
#include "core/base/from_ipc.h"
#include "core/base/status_macros.h"
#include "core/control/exit_messages.h"

namespace bulkhead::session {
namespace {

namespace schema = ipc::schema;

// The time for which an answer is waited for before bulkheadd is asked whether
// it still serves.
constexpr std::chrono::milliseconds kUnwatched{1'000};
// bulkheadd closes a session also if nobody waits for it to do so.
constexpr std::chrono::milliseconds kClosePatience{500};
// Added to the time for which bulkheadd itself waits, so that its answer, which
// names the cause, arrives before the application gives up.
constexpr std::chrono::milliseconds kSlack{2'000};

}  // namespace

SupervisorLink::SupervisorLink(SupervisorSettings settings,
                               std::shared_ptr<SessionCounting> counting)
    : settings_(std::move(settings)), counting_(std::move(counting)) {}

Result<std::shared_ptr<SupervisorLink>> SupervisorLink::Start(
    SupervisorSettings settings) {
  ASSIGN_OR_RETURN(auto counting, SessionCounting::Create());
  std::shared_ptr<SupervisorLink> link(
      new SupervisorLink(std::move(settings), std::move(counting)));
  std::lock_guard lock(link->mutex_);
  RETURN_IF_ERROR(link->StartLocked());
  return link;
}

Status SupervisorLink::StartLocked() {
  const auto limit = settings_.deadlines.supervisor_start;
  ASSIGN_OR_RETURN(process_,
                   StartSupervisor(settings_.libexec_dir + "/bulkheadd"));
  ASSIGN_OR_RETURN(watch_, SupervisorWatch::Of(process_.pid, limit));
  const Status configured = ConfigureLocked();
  return configured.code() == Code::kDeadlineExceeded
             ? watch_->End(configured.code())
             : configured;
}

Status SupervisorLink::ConfigureLocked() {
  const ipc::UniqueFd self(
      static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0)));
  if (!self) {
    return Status(Code::kUnsupported,
                  "this kernel has no pidfd_open; Linux 5.3 is the minimum");
  }
  const int descriptors[] = {self.get()};
  RETURN_IF_ERROR(Exchange(
      process_.control.get(),
      [this](Request::Builder request) {
        Write(settings_, loads_, request.initConfigure());
      },
      descriptors, ipc::Deadline::After(settings_.deadlines.supervisor_start),
      TakeConfigured));
  const int counters[] = {counting_->fd()};
  RETURN_IF_ERROR(Exchange(
      process_.control.get(),
      [](Request::Builder request) { request.setCountSessions(); }, counters,
      ipc::Deadline::After(settings_.deadlines.supervisor_start),
      TakeConfigured));
  ASSIGN_OR_RETURN(auto watched,
                   ConnectLocked(settings_.deadlines.supervisor_start));
  watch_->Ask(std::move(watched));
  if (settings_.on_event) RETURN_IF_ERROR(FollowLocked());
  // The idle connections lead to the bulkheadd that died.
  idle_.clear();
  alive_ = true;
  ++generation_;
  return Status();
}

std::chrono::milliseconds SupervisorLink::StartPatience() const {
  // Files that settle, the start and, for a session that loads the backend
  // anew, its turn and its load; the device count and the clones.
  return 4 * settings_.deadlines.backend_start +
         3 * settings_.deadlines.worker_start + kSlack;
}

std::chrono::milliseconds SupervisorLink::ListPatience() const {
  // Enough to find out that bulkheadd hangs.
  return settings_.deadlines.supervisor_start + kUnwatched + kSlack;
}

Status SupervisorLink::CheckProcess() const {
  if (!fork_mark_.forked()) return Status();
  return Status(Code::kUnsupported,
                "this process was forked from the one whose Host this is, and "
                "cannot use it or its decoders; create a Host of its own after "
                "fork()");
}

pid_t SupervisorLink::pid() const {
  if (fork_mark_.forked()) return 0;
  std::lock_guard lock(mutex_);
  return process_.pid;
}

Result<SupervisorLink::Connection> SupervisorLink::Acquire(
    std::chrono::milliseconds timeout) {
  const auto whole = settings_.deadlines.supervisor_start;
  RETURN_IF_ERROR(CheckProcess());
  std::lock_guard lock(mutex_);
  // Tries twice, because the first attempt to connect may be the one that
  // notices the death of bulkheadd.
  for (int attempt = 0; attempt < 2; ++attempt) {
    if (!alive_) RETURN_IF_ERROR(StartLocked());
    if (!idle_.empty()) {
      Connection connection = std::move(idle_.back());
      idle_.pop_back();
      return connection;
    }
    auto socket = ConnectLocked(std::min(timeout, whole));
    if (socket) return Connection{*std::move(socket), generation_, watch_};
    if (socket.error().code() == Code::kDeadlineExceeded && timeout >= whole) {
      (void)watch_->End(Code::kBackendLost);
    } else if (socket.error().code() != Code::kBackendLost) {
      return socket.error();
    }
    alive_ = false;
  }
  return Status(Code::kBackendLost, "the supervisor bulkheadd dies at once");
}

Result<ipc::UniqueFd> SupervisorLink::ConnectLocked(
    std::chrono::milliseconds timeout) {
  ASSIGN_OR_RETURN(auto sockets, FromIpc(ipc::MakeSocketPair()));
  const int descriptors[] = {sockets.second.get()};
  RETURN_IF_ERROR(Exchange(
      process_.control.get(),
      [](Request::Builder request) { request.setConnect(); }, descriptors,
      ipc::Deadline::After(timeout), TakeConfigured));
  return std::move(sockets.first);
}

Status SupervisorLink::FollowLocked() {
  ASSIGN_OR_RETURN(auto socket,
                   ConnectLocked(settings_.deadlines.supervisor_start));
  EventStream stream(std::move(socket), ::getpid());
  RETURN_IF_ERROR(stream.Ask(0, /*wait=*/true));
  streams_.push_back(std::move(stream));
  return Status();
}

void SupervisorLink::DeliverEvents() {
  if (!settings_.on_event || delivering_.exchange(true)) return;
  for (;;) {
    EventStream* stream = nullptr;
    {
      std::lock_guard lock(mutex_);
      if (!streams_.empty()) stream = &streams_.front();
    }
    if (!stream) break;
    // Runs without the mutex, because the observer may call the library.
    const auto events = stream->TryTake();
    if (events && events->empty()) break;
    if (events) {
      for (const Event& event : *events) settings_.on_event(event);
    } else {
      std::lock_guard lock(mutex_);
      streams_.pop_front();
    }
  }
  delivering_ = false;
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

Status SupervisorLink::WatchedExchange(const Connection& connection,
                                       const FillRequest& fill,
                                       std::span<const int> fds,
                                       ipc::Deadline deadline,
                                       const TakeReply& take, bool& answered) {
  const int socket = connection.socket.get();
  RETURN_IF_ERROR(SendRequest(socket, fill, fds, deadline));
  for (;;) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline.remaining());
    auto received =
        ipc::ReceiveMessage(socket, ipc::kMaxDescriptors,
                            ipc::Deadline::After(std::min(kUnwatched, left)));
    if (received && *received) {
      answered = true;
      return ReadReply(**received, take);
    }
    if (received) {
      return Status(Code::kBackendLost, "the supervisor bulkheadd died");
    }
    if (received.error().code != ipc::Code::kDeadlineExceeded ||
        deadline.passed()) {
      return FromIpc(std::move(received).error());
    }
    RETURN_IF_ERROR(connection.watch->Check());
  }
}

Status SupervisorLink::Ask(const FillRequest& fill,
                           std::chrono::milliseconds timeout,
                           const TakeReply& take) {
  const Status status = Call(fill, {}, timeout, take);
  // Any bulkheadd will do, so the one that takes its place is asked.
  return status.code() == Code::kBackendLost ? Call(fill, {}, timeout, take)
                                             : status;
}

Status SupervisorLink::Call(const FillRequest& fill, std::span<const int> fds,
                            std::chrono::milliseconds timeout,
                            const TakeReply& take, uint64_t* generation) {
  ASSIGN_OR_RETURN(Connection connection, Acquire(timeout));
  if (generation) *generation = connection.generation;
  bool answered = false;
  const Status status = WatchedExchange(
      connection, fill, fds, ipc::Deadline::After(timeout), take, answered);
  if (status.code() == Code::kBackendLost && !answered) {
    Lost(connection.generation);
  } else if (status.code() != Code::kDeadlineExceeded) {
    // A connection on which an answer is overdue is dropped: the late answer
    // would be taken for the answer to the next question.
    Return(std::move(connection));
  }
  DeliverEvents();
  return status;
}

Result<StartedWorker> SupervisorLink::OpenSession(const SessionRequest& asked,
                                                  int worker_socket) {
  StartedWorker worker;
  const int descriptors[] = {worker_socket};
  RETURN_IF_ERROR(Call(
      [&](Request::Builder request) {
        auto session = request.initOpenSession();
        session.setAudio(asked.audio);
        session.setDevice(asked.device);
        session.setAlone(asked.alone);
        session.setInput(asked.input);
        session.setPath(asked.path);
        session.setCounter(asked.counter);
        session.setWorkerBytes(asked.worker_bytes);
        session.setSharedBytes(asked.session_bytes);
      },
      descriptors, StartPatience(),
      [&](Reply::Reader reply, ipc::ReceivedMessage& message) {
        if (reply.isPoisoned()) {
          return RefusalOf(ToPoisoned(reply.getPoisoned()),
                           asked.audio ? "sample" : "frame", asked.device);
        }
        if (!reply.isSessionStarted() || message.descriptors.size() != 1) {
          return UnexpectedReply();
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
  // A later bulkheadd numbers its sessions anew and knows nothing of this
  // worker, so there is no reason to start one just to ask. In a fork() the
  // mutex may stay locked for ever, so the mark is checked first.
  if (fork_mark_.forked()) return false;
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
      {}, settings_.deadlines.worker_start, TakeConfigured);
}

ExitVerdict SupervisorLink::SessionExit(const StartedWorker& worker,
                                        const ObservedExit& seen) {
  // A worker that the application killed for being late or for lying is blamed
  // even if no bulkheadd can be asked.
  const bool blamed = seen.how != ObservedExit::How::kDied;
  ExitVerdict exit{.blamed = blamed,
                   .input_to_blame = blamed && seen.met_media};
  uint64_t generation = 0;
  ExitVerdict told;
  const auto ask = [&](Request::Builder request) {
    auto end = request.initSessionExit();
    end.setSession(worker.session);
    end.setDevice(worker.device);
    Write(seen, end);
  };
  const auto take = [&](Reply::Reader reply, ipc::ReceivedMessage&) {
    if (!reply.isExit()) return UnexpectedReply();
    told.report = ToExitReport(reply.getExit().getReport());
    told.blamed = reply.getExit().getBlamed();
    told.input_to_blame = reply.getExit().getInputToBlame();
    told.device_to_blame = reply.getExit().getDeviceToBlame();
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
  // If the call fails, what bulkheadd has counted expires by itself.
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
    // Only the bulkheadd that made the records accepts an outcome for them, so
    // no other one is started here.
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
  // If the call fails the worker still ends: its socket closes with the
  // session.
  (void)Call(
      [&](Request::Builder request) {
        request.setCloseSession(worker.session);
      },
      {}, kClosePatience,
      [](Reply::Reader, ipc::ReceivedMessage&) { return Status(); });
}

Status SupervisorLink::Prepare(const std::string& device) {
  return Ask([&](Request::Builder request) { request.setPrepare(device); },
             StartPatience(), TakeConfigured);
}

Status SupervisorLink::Command(const std::string& backend,
                               schema::BackendCommand::Action action) {
  return Ask(
      [&](Request::Builder request) {
        auto command = request.initCommand();
        command.setBackend(backend);
        command.setAction(action);
      },
      StartPatience(), TakeConfigured);
}

Result<std::vector<DeviceInfo>> SupervisorLink::Load(const ExplicitLoad& load) {
  std::vector<DeviceInfo> devices;
  const Status status = Ask(
      [&](Request::Builder request) {
        auto out = request.initLoad();
        out.setPath(load.path);
        out.setEntryPoint(load.entry_point);
      },
      StartPatience(),
      [&](Reply::Reader reply, ipc::ReceivedMessage&) {
        if (!reply.isLoaded()) return UnexpectedReply();
        devices = ToDevices(reply.getLoaded());
        return Status();
      });
  // A backend that is there but does not start stays registered as well.
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
      Ask([](Request::Builder request) { request.setListBackends(); },
          ListPatience(),
          [&](Reply::Reader reply, ipc::ReceivedMessage&) {
            if (!reply.isBackends()) return UnexpectedReply();
            AddTo(report, reply.getBackends());
            return Status();
          }));
  return report;
}

Result<SandboxReport> SupervisorLink::Sandbox() {
  SandboxReport report{};
  RETURN_IF_ERROR(
      Ask([](Request::Builder request) { request.setDescribeSandbox(); },
          settings_.deadlines.backend_start + ListPatience(),
          [&](Reply::Reader reply, ipc::ReceivedMessage&) {
            if (!reply.isSandbox()) return UnexpectedReply();
            report = ToReport(reply.getSandbox());
            return Status();
          }));
  return report;
}

}  // namespace bulkhead::session
