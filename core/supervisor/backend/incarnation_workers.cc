// SPDX-License-Identifier: Apache-2.0
#include <capnp/message.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "core/base/from_ipc.h"
#include "core/base/pidfd.h"
#include "core/supervisor/backend/incarnation.h"
#include "core/supervisor/sandbox/child_processes.h"
#include "core/supervisor/sandbox/log_socket.h"
#include "core/supervisor/sandbox/memory_limit.h"
#include "core/supervisor/sandbox/silence.h"
#include "core/supervisor/sandbox/thread_status.h"
#include "ipc/limit_name.h"

// The workers of an Incarnation: how the zygote is asked for one, what is
// checked before it gets media, and how its end reaches those who wait.
namespace bulkhead::supervisor {
namespace {

namespace schema = ipc::schema;
using std::chrono::milliseconds;

// A clone takes 2 ms, and more on a busy machine.
constexpr kj::Duration kTimeForSpare = 1 * kj::SECONDS;

kj::Duration ToDuration(milliseconds time) {
  return time.count() * kj::MILLISECONDS;
}

// Returns whether nobody waits for the worker any more that is to serve the
// socket.
bool IsClosedByPeer(int socket) {
  pollfd closed = {.fd = socket, .events = POLLRDHUP, .revents = 0};
  return ::poll(&closed, 1, 0) > 0;
}

// Says which process did not do its part of a clone, and what helps.
std::string Unanswered(const char* what, pid_t pid, milliseconds timeout) {
  return "the backend's " + std::string(what) + " (process " +
         std::to_string(pid) + ") did not help to clone a worker within " +
         std::to_string(timeout.count()) + " ms of " +
         ipc::DeadlineName("worker_start") +
         " and was ended, so that another can take its place; if nobody has "
         "stopped it (SIGSTOP, a debugger), the machine is overloaded, or the "
         "backend hangs: raise that deadline, or report it to the vendor";
}

}  // namespace

kj::Promise<Result<Incarnation::Worker>> Incarnation::CloneWorker(
    WorkerKind kind, ipc::UniqueFd socket, milliseconds timeout,
    const sandbox::MemoryAllowance& memory) {
  if (!zygote_alive_) {
    return Result<Worker>(
        Status(Code::kBackendLost, "the backend's zygote died"));
  }
  auto message = kj::heap<capnp::MallocMessageBuilder>();
  auto clone = message->initRoot<schema::ZygoteRequest>().initClone();
  clone.setProbe(kind == WorkerKind::kProbe);
  clone.setShared(kind == WorkerKind::kShared);
  clone.setReserve(kind == WorkerKind::kCheck);
  const sandbox::MemoryLimits limits =
      sandbox::LimitsFor(zygote_pidfd_.get(), memory, loading_);
  clone.setDataBytes(limits.data_bytes);
  clone.setAddressBytes(limits.address_bytes);
  auto paf = kj::newPromiseAndFulfiller<Result<Worker>>();
  Pending pending{
      .fulfiller = kj::mv(paf.fulfiller),
      .pid = std::nullopt,
      .memory = limits,
      .descriptors = std::nullopt,
      .log = nullptr,
      .starved = std::nullopt,
      .until = timer_.now() +
               (timeout == kNobodyWaits ? kTimeForSpare : ToDuration(timeout))};
  // A probe sees no media and stays in stage 1.
  if (violations_ && kind != WorkerKind::kProbe) {
    Result<sandbox::LogSocket> log = sandbox::MakeLogSocket();
    if (!log) return Result<Worker>(std::move(log).error());
    Result<ipc::UniqueFd> silence = sandbox::MakeSilence();
    if (!silence) return Result<Worker>(std::move(silence).error());
    clone.setSocketComesLater(true);
    pending.descriptors = sandbox::ExpectedCalls::WorkerDescriptors{
        .socket = std::move(socket),
        .log = std::move(log->writer),
        .silence = *std::move(silence)};
    pending.log = std::make_unique<LogTail>(port_, std::move(log->reader));
    pending.log->ExpectMedia();
  }
  const uint64_t ticket = next_ticket_++;
  clone.setTicket(ticket);
  pending_[ticket] = std::move(pending);
  tasks_->add(SendClone(ticket, kj::mv(message), std::move(socket)));
  return paf.promise.exclusiveJoin(
      timer_.afterDelay(ToDuration(timeout)).then([this, ticket, timeout] {
        auto late = pending_.extract(ticket);
        if (late && late.mapped().starved) {
          // The zygote named the worker and is not to blame. The worker's
          // socket leads nowhere, so it ends.
          if (late.mapped().pid) forgotten_.insert(*late.mapped().pid);
          return Result<Worker>(*std::move(late.mapped().starved));
        }
        // What does not answer would fail every later session too, so it is
        // ended, and the session tries the one that takes its place.
        const bool named = late && late.mapped().pid;
        const std::string why =
            Unanswered(named ? "reaper" : "zygote",
                       named ? reaper_pid() : zygote_pid(), timeout);
        if (named) {
          OnReaperHangs(why);
        } else {
          KillZygote(Code::kBackendLost, why);
        }
        return Result<Worker>(Status(Code::kBackendLost, why));
      }));
}

kj::Promise<void> Incarnation::AfterTimeForSpare() {
  return timer_.afterDelay(kTimeForSpare);
}

kj::Promise<void> Incarnation::SendClone(uint64_t ticket,
                                         kj::Own<capnp::MessageBuilder> message,
                                         ipc::UniqueFd socket) {
  const auto pending = pending_.find(ticket);
  if (pending == pending_.end()) return kj::READY_NOW;
  const int descriptor = socket.get();
  const auto& later = pending->second.descriptors;
  if (IsClosedByPeer(later ? later->socket.get() : descriptor)) {
    pending->second.fulfiller->fulfill(Result<Worker>(
        Status(Code::kBackendLost, "the session was closed meanwhile")));
    pending_.erase(pending);
    return kj::READY_NOW;
  }
  auto sent = zygote_->Send(
      *message, std::span(&descriptor, socket ? size_t{1} : size_t{0}));
  if (sent) {
    expected_calls_.ExpectClone();
    pending->second.starved.reset();
    ContinueZygote();
    StopIdleZygote();
    return kj::READY_NOW;
  }
  const bool starved = sent.error().code == ipc::Code::kResourceExhausted;
  // Sessions that were cancelled have asked too, faster than it can clone.
  const bool full = sent.error().code == ipc::Code::kDeadlineExceeded;
  Status failure = FromIpc(std::move(sent).error());
  if (!starved && !full) {
    pending->second.fulfiller->fulfill(Result<Worker>(std::move(failure)));
    pending_.erase(pending);
    return kj::READY_NOW;
  }
  if (starved) pending->second.starved = std::move(failure);
  return timer_.afterDelay(kStarvedPause)
      .then([this, ticket, message = kj::mv(message),
             socket = std::move(socket)]() mutable {
        return SendClone(ticket, kj::mv(message), std::move(socket));
      });
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

LogTail* Incarnation::LogOf(pid_t worker) {
  const auto found = watched_.find(worker);
  return found == watched_.end() ? nullptr : found->second.log.get();
}

void Incarnation::KillWorker(pid_t pid) {
  capnp::MallocMessageBuilder message;
  message.initRoot<schema::ReaperRequest>().setKill(pid);
  SendToReaper(message, [this, pid] { KillWorker(pid); });
}

void Incarnation::SendToReaper(capnp::MessageBuilder& message,
                               std::function<void()> again) {
  const auto sent = reaper_->Send(message);
  if (sent) return;
  if (sent.error().code != ipc::Code::kDeadlineExceeded) {
    return OnReaperGone();
  }
  // The socket is full of requests for other workers, which may be more than
  // the reaper has had time for.
  tasks_->add(
      timer_.afterDelay(kStarvedPause).then([this, again = std::move(again)] {
        if (reaper_alive_) again();
      }));
}

void Incarnation::ForgetWorker(pid_t pid) {
  if (WorkerRuns(pid)) forgotten_.insert(pid);
  watched_.erase(pid);
}

Status Incarnation::ConfirmWorker(const Worker& worker) {
  Status checked =
      sandbox::CheckEveryThread(worker.pidfd.get(), sandbox::kStage2Filters);
  if (checked.ok()) checked = sandbox::CheckSignals(worker.pidfd.get());
  if (checked.ok()) {
    checked = sandbox::CheckMemoryLimits(worker.pidfd.get(), worker.memory);
  }
  if (checked.ok()) {
    log_.ExpectMedia();
    met_media_ = had_media_ = true;
    StopIdleZygote();
  }
  if (checked.code() == Code::kSandboxUnavailable) KillWorker(worker.pid);
  // Where nobody is asked, the zygote clones as it likes.
  if (forbidden_ == sandbox::Forbidden::kKill) EndStrangers();
  return checked;
}

void Incarnation::StopIdleZygote() {
  // The threads of a driver may have to serve a device.
  if (!had_media_ || zygote_stopped_ || loading_.maps_devices) return;
  kj::TimePoint until = timer_.now();
  for (const auto& [ticket, pending] : pending_) {
    if (!pending.pid) until = std::max(until, pending.until);
  }
  if (until > timer_.now()) {
    // A zygote that owes an answer for longer than anybody waits may mean to.
    // This function may replace the promise and so must not run in it.
    stopping_ = timer_.atTime(until)
                    .then([this] {
                      tasks_->add(kj::evalLater([this] { StopIdleZygote(); }));
                    })
                    .eagerlyEvaluate(nullptr);
    return;
  }
  SignalZygote(SIGSTOP);
  zygote_stopped_ = true;
  if (expected_calls_.clones_under_way() == 0) return;
  // Now, and once a clone is there that was approved a moment ago.
  EndStrangers();
  tasks_->add(timer_.afterDelay(kStarvedPause).then([this] {
    if (zygote_stopped_) EndStrangers();
  }));
}

void Incarnation::ContinueZygote() {
  if (!zygote_stopped_) return;
  SignalZygote(SIGCONT);
  zygote_stopped_ = false;
}

void Incarnation::SignalZygote(int signal) {
  ::syscall(SYS_pidfd_send_signal, zygote_pidfd_.get(), signal, nullptr, 0);
}

void Incarnation::EndStrangers() {
  // The pid of a reaped reaper may be another process's.
  if (!reaper_alive_) return;
  std::vector<ipc::UniqueFd> strangers;
  for (auto& [pid, pidfd] : sandbox::ChildrenOf(launched_pid_)) {
    if (pid == zygote_inner_pid_ || watched_.contains(pid) ||
        forgotten_.contains(pid) || PendingOf(pid) != nullptr) {
      continue;
    }
    strangers.push_back(std::move(pidfd));
  }
  // The zygote has yet to name the clones that were approved and not answered.
  // If it was stopped since it owes that for too long, they may do what it may
  // not: watch the workers that have media.
  const size_t unnamed = zygote_alive_ ? expected_calls_.clones_under_way() : 0;
  if (strangers.size() <= (zygote_stopped_ ? 0 : unnamed)) return;
  for (const ipc::UniqueFd& stranger : strangers) {
    ::syscall(SYS_pidfd_send_signal, stranger.get(), SIGKILL, nullptr, 0);
  }
  if (zygote_alive_ && strangers.size() > unnamed) {
    KillZygote(Code::kBackendMisbehaved,
               "it made a process that it did not name");
  }
}

void Incarnation::Watched::Resolve() {
  for (auto& waiter : waiters) waiter->fulfill(ProcessExit(end));
  waiters.clear();
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

void Incarnation::FinishPending(pid_t pid, Result<Worker> result) {
  if (Pending* const pending = PendingOf(pid)) {
    pending->fulfiller->fulfill(std::move(result));
  }
  std::erase_if(pending_,
                [pid](const auto& entry) { return entry.second.pid == pid; });
}

}  // namespace bulkhead::supervisor
