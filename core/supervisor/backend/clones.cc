// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/backend/clones.h"

#include <poll.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

#include "core/base/application_limits.h"
#include "core/base/clean_text.h"
#include "core/base/from_ipc.h"
#include "core/base/status_macros.h"
#include "core/supervisor/sandbox/log_socket.h"
#include "core/supervisor/sandbox/silence.h"
#include "ipc/limit_name.h"

namespace bulkhead::backend {
namespace {

namespace schema = ipc::schema;
using std::chrono::milliseconds;

constexpr size_t kMaxReasonBytes = 512;

kj::Duration ToDuration(milliseconds time) {
  return time.count() * kj::MILLISECONDS;
}

// Returns whether the other end of `socket` was closed, so that nobody waits
// for the worker any more.
bool IsClosedByPeer(int socket) {
  pollfd closed = {.fd = socket, .events = POLLRDHUP, .revents = 0};
  return ::poll(&closed, 1, 0) > 0;
}

// Returns the answer to callers while only the closed socket shows that the
// zygote has died. Later the reaper reports how it ended, or
// ReaperLink::kPatience is over.
Status ZygoteDied() {
  return Status(Code::kBackendLost, "the backend's zygote died");
}

// Returns words about a process that did not do its part of a clone, with the
// remedy.
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

kj::Promise<Result<Clones::Worker>> Clones::Clone(
    Kind kind, ipc::UniqueFd socket, milliseconds timeout,
    const sandbox::MemoryAllowance& memory) {
  if (!zygote_.alive()) return Result<Worker>(ZygoteDied());
  auto message = kj::heap<capnp::MallocMessageBuilder>();
  auto clone = message->initRoot<schema::ZygoteRequest>().initClone();
  clone.setProbe(kind == Kind::kProbe);
  clone.setShared(kind == Kind::kShared);
  clone.setReserve(kind == Kind::kCheck);
  const sandbox::MemoryLimits limits =
      sandbox::LimitsFor(zygote_.pidfd(), memory, loading_);
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
               (timeout == kNoTimeout ? kTimeForSpare : ToDuration(timeout))};
  // A worker for media gets its descriptors from bulkheadd once it waits for
  // them, so that the zygote never has them. A probe sees no media and stays in
  // stage 1.
  if (zygote_.has_listener() && kind != Kind::kProbe) {
    Result<sandbox::LogSocket> log = sandbox::MakeLogSocket();
    if (!log) return Result<Worker>(std::move(log).error());
    Result<ipc::UniqueFd> silence = sandbox::MakeSilence();
    if (!silence) return Result<Worker>(std::move(silence).error());
    clone.setSocketComesLater(true);
    pending.descriptors = sandbox::ExpectedCalls::WorkerDescriptors{
        .socket = std::move(socket),
        .log = std::move(log->writer),
        .silence = *std::move(silence)};
    pending.log =
        std::make_unique<records::LogTail>(port_, std::move(log->reader));
    pending.log->ExpectMedia();
  }
  const uint64_t ticket = next_ticket_++;
  clone.setTicket(ticket);
  pending_[ticket] = std::move(pending);
  tasks_.add(Send(ticket, kj::mv(message), std::move(socket)));
  return paf.promise.exclusiveJoin(
      timer_.afterDelay(ToDuration(timeout)).then([this, ticket, timeout] {
        return GiveUp(ticket, timeout);
      }));
}

Result<Clones::Worker> Clones::GiveUp(uint64_t ticket, milliseconds timeout) {
  auto late = pending_.extract(ticket);
  if (late && late.mapped().starved) {
    // The zygote has done its part and is not to blame. If it named the worker,
    // that process ends by itself, since the other end of its socket is closed.
    if (late.mapped().pid) workers_.ExpectEnd(*late.mapped().pid);
    return *std::move(late.mapped().starved);
  }
  const bool named = late && late.mapped().pid;
  if (!named && !zygote_.alive()) return ZygoteDied();
  // A process that does not answer would fail every later session too, so it is
  // ended, and the session tries again with a new process.
  const std::string why =
      Unanswered(named ? "reaper" : "zygote",
                 named ? reaper_.pid() : zygote_.pid(), timeout);
  if (named) {
    // Nobody is to blame for a reaper that does not answer.
    zygote_.Excuse(why);
    reaper_.GiveUp();
  } else {
    zygote_.Kill(Code::kBackendLost, why);
  }
  return Status(Code::kBackendLost, why);
}

kj::Promise<void> Clones::Send(uint64_t ticket,
                               kj::Own<capnp::MessageBuilder> message,
                               ipc::UniqueFd socket) {
  const auto pending = pending_.find(ticket);
  if (pending == pending_.end()) return kj::READY_NOW;
  // The worker's socket is sent with the request, or is among the descriptors
  // that bulkheadd gives to the worker later.
  const int descriptor = socket.get();
  const auto& later = pending->second.descriptors;
  if (IsClosedByPeer(later ? later->socket.get() : descriptor)) {
    pending->second.fulfiller->fulfill(Result<Worker>(
        Status(Code::kBackendLost, "the session was closed meanwhile")));
    pending_.erase(pending);
    return kj::READY_NOW;
  }
  auto sent = zygote_.Send(
      *message, std::span(&descriptor, socket ? size_t{1} : size_t{0}));
  if (sent) {
    expected_calls_.ExpectClone();
    pending->second.starved.reset();
    owner_.OnCloneAsked();
    return kj::READY_NOW;
  }
  const bool starved = sent.error().code == ipc::Code::kResourceExhausted;
  // The zygote's socket is full if sessions are opened and cancelled faster
  // than the zygote can clone workers.
  const bool full = sent.error().code == ipc::Code::kDeadlineExceeded;
  Status failure = FromIpc(std::move(sent).error());
  if (!starved && !full) {
    pending->second.fulfiller->fulfill(Result<Worker>(std::move(failure)));
    pending_.erase(pending);
    return kj::READY_NOW;
  }
  if (starved) pending->second.starved = std::move(failure);
  return timer_.afterDelay(ReaperLink::kStarvedPause)
      .then([this, ticket, message = kj::mv(message),
             socket = std::move(socket)]() mutable {
        return Send(ticket, kj::mv(message), std::move(socket));
      });
}

Status Clones::CountAnswer() {
  if (++answers_ >= next_ticket_) {
    return ZygoteLink::Misbehaved("answered what it was not asked");
  }
  expected_calls_.CloneAnswered();
  return Status();
}

Status Clones::OnCloned(schema::Cloned::Reader cloned_untrusted) {
  RETURN_IF_ERROR(CountAnswer());
  const auto found = pending_.find(cloned_untrusted.getTicket());
  // The ticket may have expired. Then nobody holds the other end of the
  // worker's socket, and the worker ends by itself.
  if (found == pending_.end()) return Status();
  const pid_t pid_untrusted = cloned_untrusted.getPid();
  if (pid_untrusted <= 1 || found->second.pid || PendingOf(pid_untrusted)) {
    return ZygoteLink::Misbehaved("named an impossible process");
  }
  found->second.pid = pid_untrusted;
  owner_.OnCloneAnswered();
  AskToWatch(pid_untrusted);
  return Status();
}

void Clones::AskToWatch(pid_t pid_untrusted) {
  reaper_.Watch(pid_untrusted, [this, pid_untrusted] {
    if (PendingOf(pid_untrusted)) AskToWatch(pid_untrusted);
  });
}

Status Clones::OnCloneFailed(schema::CloneFailed::Reader failed_untrusted) {
  RETURN_IF_ERROR(CountAnswer());
  const auto found = pending_.find(failed_untrusted.getTicket());
  if (found == pending_.end()) return Status();
  const auto failure_untrusted = failed_untrusted.getFailure();
  // The code is believed: it only changes the advice to callers, and the
  // backoff after a failed start, which is then not counted.
  const bool declined =
      failure_untrusted.getCode() == schema::ErrorCode::RESOURCE_EXHAUSTED;
  zygote_.NoteFailedClone(declined);
  found->second.fulfiller->fulfill(NamingLimits(Status(
      declined ? Code::kResourceExhausted : Code::kBackendUnavailable,
      "the backend's zygote could not clone a worker, and says: \"" +
          CleanText(failure_untrusted.getMessage().cStr(), kMaxReasonBytes) +
          '"')));
  pending_.erase(found);
  owner_.OnCloneAnswered();
  owner_.EndStrangers();
  return Status();
}

void Clones::OnWatched(pid_t pid, ipc::UniqueFd pidfd) {
  Pending* const pending = PendingOf(pid);
  if (!pending) return;
  if (!pidfd) {
    return Finish(
        pid, ZygoteLink::Misbehaved("named a process that is not its own"));
  }
  workers_.Add(pid, std::move(pending->log));
  if (pending->descriptors) zygote_.Give(pid, *std::move(pending->descriptors));
  Finish(
      pid,
      Worker{.pid = pid, .pidfd = std::move(pidfd), .memory = pending->memory});
}

void Clones::OnRefused(pid_t pid) {
  if (!PendingOf(pid)) return;
  Finish(pid, ZygoteLink::Misbehaved("named a process that is not its own"));
  owner_.EndStrangers();
}

void Clones::OnStarved(pid_t pid, const Status& why) {
  Pending* const pending = PendingOf(pid);
  if (!pending) return;
  pending->starved = why;
  tasks_.add(timer_.afterDelay(ReaperLink::kStarvedPause).then([this, pid] {
    if (PendingOf(pid)) AskToWatch(pid);
  }));
}

void Clones::OnExited(pid_t pid) {
  // The process ended before the reaper could send its pidfd.
  Finish(pid,
         Status(Code::kBackendLost, "the worker died while it was cloned"));
}

void Clones::Fail(const Status& status) {
  for (auto& [ticket, pending] : pending_) {
    pending.fulfiller->fulfill(Result<Worker>(status));
  }
  pending_.clear();
}

kj::TimePoint Clones::AwaitedUntil() const {
  kj::TimePoint until = timer_.now();
  for (const auto& [ticket, pending] : pending_) {
    if (!pending.pid) until = std::max(until, pending.until);
  }
  return until;
}

Clones::Pending* Clones::PendingOf(pid_t pid) {
  for (auto& [ticket, pending] : pending_) {
    if (pending.pid == pid) return &pending;
  }
  return nullptr;
}

void Clones::Finish(pid_t pid, Result<Worker> result) {
  if (Pending* const pending = PendingOf(pid)) {
    pending->fulfiller->fulfill(std::move(result));
  }
  std::erase_if(pending_,
                [pid](const auto& entry) { return entry.second.pid == pid; });
}

}  // namespace bulkhead::backend
