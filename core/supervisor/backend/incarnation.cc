// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/backend/incarnation.h"

#include <capnp/message.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "core/base/clean_text.h"
#include "core/base/from_ipc.h"
#include "core/base/pidfd.h"
#include "core/base/status_macros.h"
#include "core/control/exit_report.h"
#include "core/supervisor/sandbox/memory_limit.h"
#include "core/supervisor/sandbox/thread_status.h"
#include "ipc/capnp_read.h"
#include "ipc/limit_name.h"

namespace bulkhead::supervisor {
namespace {

namespace schema = ipc::schema;
using std::chrono::milliseconds;

constexpr size_t kLogTailBytes = 2048;
// Between two reads: a backend that writes without end waits on its pipe, and
// the event loop serves the others.
constexpr kj::Duration kLogPause = 10 * kj::MILLISECONDS;
constexpr size_t kMaxReasonBytes = 512;
// No sum with it overflows.
constexpr uint64_t kMostWorkerBytes = uint64_t{1} << 62;
// The reaper is ours and needs a few milliseconds.
constexpr milliseconds kEndPatience{1'000};
constexpr kj::Duration kReaperPatience = 500 * kj::MILLISECONDS;

kj::Duration ToDuration(milliseconds time) {
  return time.count() * kj::MILLISECONDS;
}

Status Misbehaved(const std::string& what) {
  return Status(Code::kBackendMisbehaved, "the backend's zygote " + what);
}

}  // namespace

Incarnation::Incarnation(kj::UnixEventPort& port,
                         sandbox::LaunchedReaper launched,
                         sandbox::Forbidden forbidden)
    : port_(port),
      timer_(port.getTimer()),
      launched_pid_(launched.pid),
      reaper_pidfd_(std::move(launched.pidfd)),
      reaper_observer_(port, reaper_pidfd_.get(),
                       kj::UnixEventPort::FdObserver::OBSERVE_READ),
      reaper_(std::make_unique<EventSocket>(port, std::move(launched.control))),
      zygote_(std::make_unique<EventSocket>(
          port, std::move(launched.zygote_control))),
      cgroup_(std::move(launched.cgroup)),
      log_(std::move(launched.log)),
      log_observer_(port, log_.get(),
                    kj::UnixEventPort::FdObserver::OBSERVE_READ),
      forbidden_(forbidden),
      tasks_(new kj::TaskSet(*this)) {
  tasks_->add(ServeReaper());
  tasks_->add(ServeZygote());
  tasks_->add(DrainLog());
  tasks_->add(ReapReaper());
}

Incarnation::~Incarnation() noexcept(false) {
  tasks_.reset();
  if (!reaper_alive_) return;
  // Without its control socket it ends the others, then itself.
  reaper_.reset();
  pollfd poll{.fd = reaper_pidfd_.get(), .events = POLLIN, .revents = 0};
  if (::poll(&poll, 1, kEndPatience.count()) <= 0) KillReaper();
  // It cannot end before its workers, one of which a driver may hold in the
  // kernel. Then it is left to whoever reaps for us.
  if (::poll(&poll, 1, kEndPatience.count()) <= 0) return;
  ::waitid(static_cast<idtype_t>(P_PIDFD), reaper_pidfd_.get(), nullptr,
           WEXITED | __WALL);
}

void Incarnation::KillReaper() {
  ::syscall(SYS_pidfd_send_signal, reaper_pidfd_.get(), SIGKILL, nullptr, 0);
}

void Incarnation::taskFailed(kj::Exception&&) {
  // Only kj's own failures get here, and they leave no way to serve on.
  OnReaperGone();
}

pid_t Incarnation::zygote_pid() const {
  return zygote_alive_ && zygote_pidfd_ ? PidOf(zygote_pidfd_.get()) : 0;
}

kj::Promise<Status> Incarnation::AwaitReady(milliseconds timeout) {
  if (readiness_) return *readiness_;
  auto paf = kj::newPromiseAndFulfiller<Status>();
  ready_ = kj::mv(paf.fulfiller);
  return paf.promise.exclusiveJoin(
      timer_.afterDelay(ToDuration(timeout)).then([timeout] {
        return Status(Code::kDeadlineExceeded,
                      "it was not ready within " +
                          std::to_string(timeout.count()) + " ms of " +
                          ipc::DeadlineName("backend_start"));
      }));
}

kj::Promise<Result<Incarnation::Worker>> Incarnation::CloneWorker(
    WorkerKind kind, ipc::UniqueFd socket, milliseconds timeout,
    uint64_t worker_bytes) {
  if (!zygote_alive_) {
    return Result<Worker>(
        Status(Code::kBackendLost, "the backend's zygote died"));
  }
  const uint64_t ticket = next_ticket_++;
  capnp::MallocMessageBuilder message;
  auto clone = message.initRoot<schema::ZygoteRequest>().initClone();
  clone.setTicket(ticket);
  clone.setProbe(kind == WorkerKind::kProbe);
  clone.setShared(kind == WorkerKind::kShared);
  const uint64_t data_bytes =
      worker_bytes == 0 ? 0
                        : sandbox::DataBytesOf(zygote_pidfd_.get()) +
                              std::min(worker_bytes, kMostWorkerBytes);
  clone.setDataBytes(data_bytes);
  const int descriptors[] = {socket.get()};
  if (auto sent = zygote_->Send(message, descriptors); !sent) {
    return Result<Worker>(FromIpc(std::move(sent).error()));
  }
  auto paf = kj::newPromiseAndFulfiller<Result<Worker>>();
  pending_[ticket] = Pending{kj::mv(paf.fulfiller), std::nullopt, data_bytes};
  return paf.promise.exclusiveJoin(
      timer_.afterDelay(ToDuration(timeout)).then([this, ticket, timeout] {
        pending_.erase(ticket);
        // The next session gets another zygote rather than this silence.
        KillZygote(Code::kBackendLost, "it did not clone a worker in time");
        return Result<Worker>(Status(
            Code::kDeadlineExceeded,
            "no worker was cloned within " + std::to_string(timeout.count()) +
                " ms of " + ipc::DeadlineName("worker_start")));
      }));
}

kj::Promise<ProcessExit> Incarnation::AwaitEnd(pid_t pid,
                                               milliseconds timeout) {
  const auto found = watched_.find(pid);
  if (found == watched_.end()) {
    return ProcessExit{.kind = ProcessExit::Kind::kUnknown};
  }
  if (found->second.end.kind != ProcessExit::Kind::kRunning) {
    return found->second.end;
  }
  auto paf = kj::newPromiseAndFulfiller<ProcessExit>();
  found->second.waiters.push_back(kj::mv(paf.fulfiller));
  return paf.promise.exclusiveJoin(
      timer_.afterDelay(ToDuration(timeout)).then([] {
        return ProcessExit();
      }));
}

bool Incarnation::WorkerRuns(pid_t pid) const {
  const auto found = watched_.find(pid);
  return found != watched_.end() &&
         found->second.end.kind == ProcessExit::Kind::kRunning;
}

void Incarnation::KillWorker(pid_t pid) {
  capnp::MallocMessageBuilder message;
  message.initRoot<schema::ReaperRequest>().setKill(pid);
  if (!reaper_->Send(message)) OnReaperGone();
}

void Incarnation::ForgetWorker(pid_t pid) { watched_.erase(pid); }

kj::Promise<void> Incarnation::ServeReaper() {
  return reaper_->Receive(1).then([this](auto received) -> kj::Promise<void> {
    if (!received || !*received || !OnReaperEvent(**received).ok()) {
      OnReaperGone();
      return kj::READY_NOW;
    }
    return ServeReaper();
  });
}

kj::Promise<void> Incarnation::ServeZygote() {
  // Its first message may bring the listener, no other brings anything.
  return zygote_->Receive(lacks_listener() ? 1 : 0)
      .then([this](auto received) -> kj::Promise<void> {
        if (received && !*received) {
          zygote_alive_ = false;
          zygote_heard_out_ = true;
          if (zygote_exit_ || !zygote_end_.empty()) {
            OnZygoteGone();
            return kj::READY_NOW;
          }
          // The reaper is about to say how it ended, which is worth a moment.
          return timer_.afterDelay(kReaperPatience).then([this] {
            OnZygoteGone();
          });
        }
        const Status status = received ? OnZygoteEvent(**received)
                                       : FromIpc(std::move(received).error());
        if (!status.ok()) {
          KillZygote(Code::kBackendMisbehaved, status.message());
          return kj::READY_NOW;
        }
        return ServeZygote();
      });
}

Status Incarnation::OnReaperEvent(ipc::ReceivedMessage& message) {
  const auto handled = ipc::ReadCatching([&]() -> ipc::Expected<void> {
    auto root = message.root<schema::ReaperEvent>();
    if (!root) return tl::unexpected(std::move(root).error());
    switch (root->which()) {
      case schema::ReaperEvent::STARTED:
        zygote_inner_pid_ = root->getStarted();
        if (message.descriptors.size() == 1) {
          zygote_pidfd_ = std::move(message.descriptors[0]);
        }
        CheckReady();
        break;
      case schema::ReaperEvent::WATCHED:
      case schema::ReaperEvent::REFUSED: {
        const bool watched = root->isWatched();
        const pid_t pid = watched ? root->getWatched() : root->getRefused();
        Pending* pending = PendingOf(pid);
        if (!pending) break;
        if (watched && message.descriptors.size() == 1) {
          watched_[pid] = Watched();
          pending->fulfiller->fulfill(
              Worker{.pid = pid,
                     .pidfd = std::move(message.descriptors[0]),
                     .data_bytes = pending->data_bytes});
        } else {
          pending->fulfiller->fulfill(
              Misbehaved("named a process that is not its own"));
        }
        std::erase_if(pending_, [pid](const auto& entry) {
          return entry.second.pid == pid;
        });
        break;
      }
      case schema::ReaperEvent::EXITED:
        OnExited(root->getExited().getPid(), root->getExited().getWaitStatus());
        break;
    }
    return {};
  });
  return handled ? Status() : FromIpc(handled.error());
}

Status Incarnation::OnZygoteEvent(ipc::ReceivedMessage& message) {
  const auto handled = ipc::ReadCatching([&]() -> ipc::Expected<Status> {
    auto root = message.root<schema::ZygoteEvent>();
    if (!root) return tl::unexpected(std::move(root).error());
    const auto event_untrusted = *root;
    switch (event_untrusted.which()) {
      case schema::ZygoteEvent::LOCKED:
        return OnLocked(message);
      case schema::ZygoteEvent::READY:
        if (readiness_ || said_ready_) {
          return Misbehaved("said twice whether it is ready");
        }
        said_ready_ = true;
        CheckReady();
        return Status();
      case schema::ZygoteEvent::FAILED:
        if (readiness_ || said_ready_) {
          return Misbehaved("said twice whether it is ready");
        }
        declined_ = true;
        ResolveReadiness(
            Status(Code::kBackendUnavailable,
                   CleanText(event_untrusted.getFailed().getMessage().cStr(),
                             kMaxReasonBytes)));
        return Status();
      case schema::ZygoteEvent::CLONED: {
        if (++answers_ >= next_ticket_) {
          return Misbehaved("answered what it was not asked");
        }
        const auto cloned = event_untrusted.getCloned();
        const auto found = pending_.find(cloned.getTicket());
        // A ticket may have expired meanwhile: then the worker, whose socket
        // nobody holds any more, ends by itself.
        if (found == pending_.end()) return Status();
        const pid_t pid_untrusted = cloned.getPid();
        if (pid_untrusted <= 1 || found->second.pid ||
            PendingOf(pid_untrusted)) {
          return Misbehaved("named an impossible process");
        }
        found->second.pid = pid_untrusted;
        capnp::MallocMessageBuilder request;
        request.initRoot<schema::ReaperRequest>().setWatch(pid_untrusted);
        if (!reaper_->Send(request)) OnReaperGone();
        return Status();
      }
      case schema::ZygoteEvent::CLONE_FAILED: {
        if (++answers_ >= next_ticket_) {
          return Misbehaved("answered what it was not asked");
        }
        const auto failed = event_untrusted.getCloneFailed();
        const auto found = pending_.find(failed.getTicket());
        if (found == pending_.end()) return Status();
        found->second.fulfiller->fulfill(
            Status(Code::kBackendUnavailable,
                   CleanText(failed.getFailure().getMessage().cStr(),
                             kMaxReasonBytes)));
        pending_.erase(found);
        return Status();
      }
      case schema::ZygoteEvent::CRASHED:
        zygote_claim_ = ReadCrashNote(event_untrusted.getCrashed());
        return Status();
    }
    return Misbehaved("sent an unknown message");
  });
  return handled ? *handled : FromIpc(handled.error());
}

void Incarnation::OnExited(pid_t pid, int wait_status) {
  ProcessExit end = ToProcessExit(
      wait_status, violations_ ? violations_->Take(pid) : std::nullopt);
  if (end.kind == ProcessExit::Kind::kSignaled && end.value == SIGKILL &&
      cgroup_ && cgroup_->TakeOutOfMemoryKill()) {
    end.kind = ProcessExit::Kind::kOutOfMemory;
  }
  if (pid == zygote_inner_pid_) {
    // It may have put filters of its own on top.
    if (end.violation) end.stage = 1;
    zygote_exit_ = ToReport(end);
    zygote_lost_ = zygote_end_.empty() && IsForeignKill(end);
    zygote_alive_ = false;
    if (readiness_ || zygote_heard_out_) return OnZygoteGone();
    // What it said before, such as why it cannot load, may still be on its way.
    tasks_->add(
        timer_.afterDelay(kReaperPatience).then([this] { OnZygoteGone(); }));
    return;
  }
  const auto found = watched_.find(pid);
  if (found == watched_.end()) return;
  end.zygote_alive = zygote_alive_ && !HasEnded(zygote_pidfd_.get());
  found->second.end = std::move(end);
  found->second.Resolve();
}

Status Incarnation::OnLocked(ipc::ReceivedMessage& message) {
  if (!lacks_listener() || said_ready_ || message.descriptors.size() != 1) {
    return Misbehaved("locked itself down out of turn");
  }
  ASSIGN_OR_RETURN(auto listener, sandbox::ViolationListener::Adopt(
                                      std::move(message.descriptors[0])));
  violations_ = std::make_unique<ViolationWatch>(port_, std::move(listener));
  tasks_->add(violations_->Serve());
  return Status();
}

void Incarnation::CheckReady() {
  if (!said_ready_ || readiness_ || !zygote_pidfd_) return;
  Status checked =
      lacks_listener()
          ? Status(Code::kSandboxUnavailable,
                   "it did not hand over the listener of its filter")
          : sandbox::CheckEveryThread(zygote_pidfd_.get(),
                                      sandbox::kStage1Filters);
  // Its end is reported with its reason.
  if (checked.code() == Code::kBackendLost) return;
  const bool refused = !checked.ok();
  ResolveReadiness(std::move(checked));
  if (refused) KillZygote(Code::kBackendLost, "its lock-down was incomplete");
}

void Incarnation::ResolveReadiness(Status status) {
  readiness_ = std::move(status);
  if (ready_) ready_->fulfill(Status(*readiness_));
}

Status Incarnation::ConfirmWorker(const Worker& worker) {
  Status checked =
      sandbox::CheckEveryThread(worker.pidfd.get(), sandbox::kStage2Filters);
  if (checked.ok() && worker.data_bytes > 0) {
    checked = sandbox::CheckDataLimit(worker.pidfd.get(), worker.data_bytes);
  }
  if (checked.code() == Code::kSandboxUnavailable) KillWorker(worker.pid);
  return checked;
}

void Incarnation::Watched::Resolve() {
  for (auto& waiter : waiters) waiter->fulfill(ProcessExit(end));
  waiters.clear();
}

void Incarnation::KillZygote(Code code, std::string reason) {
  zygote_end_ = std::move(reason);
  zygote_killed_for_ = code;
  if (zygote_pidfd_) {
    ::syscall(SYS_pidfd_send_signal, zygote_pidfd_.get(), SIGKILL, nullptr, 0);
  }
  OnZygoteGone(code);
}

void Incarnation::OnZygoteGone(Code code) {
  zygote_alive_ = false;
  if (zygote_exit_ && zygote_end_.empty()) {
    if (zygote_claim_) AddClaim(*std::move(zygote_claim_), *zygote_exit_);
    zygote_end_ = DescribeExit(*zygote_exit_);
  }
  const Status lost(
      code, "the backend's zygote died" +
                (zygote_end_.empty() ? std::string() : ": " + zygote_end_));
  if (!readiness_) {
    ResolveReadiness(Status(Code::kBackendUnavailable,
                            zygote_end_.empty()
                                ? "its process died while loading"
                                : zygote_end_ + " while loading"));
  }
  FailPending(lost);
  gone_.fulfiller->fulfill();
}

void Incarnation::OnReaperGone() {
  // One that cannot be spoken to reaps and reports nothing any more.
  if (reaper_alive_) KillReaper();
  if (!zygote_exit_ && zygote_end_.empty()) zygote_lost_ = true;
  OnZygoteGone();
  for (auto& [pid, watched] : watched_) {
    if (watched.end.kind != ProcessExit::Kind::kRunning) continue;
    // The end of pid 1 ended it, by SIGKILL, and nobody is to blame.
    watched.end = {.kind = ProcessExit::Kind::kUnknown};
    watched.Resolve();
  }
}

void Incarnation::FailPending(const Status& status) {
  for (auto& [ticket, pending] : pending_) {
    pending.fulfiller->fulfill(Result<Worker>(status));
  }
  pending_.clear();
}

Incarnation::Pending* Incarnation::PendingOf(pid_t pid) {
  for (auto& [ticket, pending] : pending_) {
    if (pending.pid == pid) return &pending;
  }
  return nullptr;
}

ExitReport Incarnation::zygote_report() const {
  if (!zygote_killed_for_) return zygote_exit_.value_or(ExitReport());
  ExitReport report;
  if (*zygote_killed_for_ == Code::kBackendMisbehaved) {
    report.kind = ExitReport::Kind::kProtocolViolation;
  }
  return report;
}

bool Incarnation::ReadLog() {
  std::array<char, 4096> chunk;
  const ssize_t bytes = ::read(log_.get(), chunk.data(), chunk.size());
  if (bytes <= 0) {
    log_ended_ = bytes == 0;
    return false;
  }
  std::string_view left_untrusted(chunk.data(), static_cast<size_t>(bytes));
  while (!left_untrusted.empty()) {
    const size_t end = left_untrusted.find('\n');
    log_tail_ += CleanText(left_untrusted.substr(0, end), chunk.size());
    if (end == std::string_view::npos) break;
    log_tail_ += '\n';
    left_untrusted.remove_prefix(end + 1);
  }
  if (log_tail_.size() > kLogTailBytes) {
    log_tail_.erase(0, log_tail_.size() - kLogTailBytes);
  }
  return true;
}

kj::Promise<void> Incarnation::DrainLog() {
  if (ReadLog()) {
    return timer_.afterDelay(kLogPause).then([this] { return DrainLog(); });
  }
  if (log_ended_) return kj::READY_NOW;
  return log_observer_.whenBecomesReadable().then(
      [this] { return DrainLog(); });
}

kj::Promise<void> Incarnation::ReapReaper() {
  return reaper_observer_.whenBecomesReadable().then([this] {
    ::waitid(static_cast<idtype_t>(P_PIDFD), reaper_pidfd_.get(), nullptr,
             WEXITED | __WALL);
    reaper_alive_ = false;
    OnReaperGone();
  });
}

}  // namespace bulkhead::supervisor
