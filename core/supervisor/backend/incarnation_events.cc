// SPDX-License-Identifier: Apache-2.0
#include <capnp/message.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "core/base/application_limits.h"
#include "core/base/clean_text.h"
#include "core/base/from_ipc.h"
#include "core/base/status_macros.h"
#include "core/supervisor/backend/incarnation.h"
#include "ipc/capnp_read.h"

// What an Incarnation makes of the messages of its reaper and its zygote. The
// reaper is believed. The zygote has run vendor code: each of its messages must
// be in turn, and a pid that it names is only a claim until the reaper confirms
// that the process is its own.
namespace bulkhead::supervisor {
namespace {

namespace schema = ipc::schema;

constexpr size_t kMaxReasonBytes = 512;

Status Misbehaved(const std::string& what) {
  return Status(Code::kBackendMisbehaved, "the backend's zygote " + what);
}

}  // namespace

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
          Watched& worker = watched_[pid] = Watched();
          if (pending->descriptors) {
            worker.log = std::move(pending->log);
            worker.drained = worker.log->Drain().eagerlyEvaluate(nullptr);
            violations_->Give(pid, *std::move(pending->descriptors));
          }
          FinishPending(pid, Worker{.pid = pid,
                                    .pidfd = std::move(message.descriptors[0]),
                                    .memory = pending->memory});
        } else {
          FinishPending(pid, Misbehaved("named a process that is not its own"));
        }
        if (!watched) EndStrangers();
        break;
      }
      case schema::ReaperEvent::STARVED:
        OnStarved(root->getStarved());
        break;
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
        // Before it has given up its listener the zygote is our own code: it
        // could not send the listener.
        ResolveReadiness(
            Status(lacks_listener() && event_untrusted.getFailed().getCode() ==
                                           schema::ErrorCode::RESOURCE_EXHAUSTED
                       ? Code::kResourceExhausted
                       : Code::kBackendUnavailable,
                   CleanText(event_untrusted.getFailed().getMessage().cStr(),
                             kMaxReasonBytes)));
        return Status();
      case schema::ZygoteEvent::CLONED:
        return OnCloned(event_untrusted.getCloned());
      case schema::ZygoteEvent::CLONE_FAILED:
        return OnCloneFailed(event_untrusted.getCloneFailed());
      case schema::ZygoteEvent::CRASHED:
        if (zygote_claim_) return Misbehaved("said twice how it crashed");
        zygote_claim_ = ReadCrashNote(event_untrusted.getCrashed());
        return Status();
    }
    return Misbehaved("sent an unknown message");
  });
  return handled ? *handled : FromIpc(handled.error());
}

Status Incarnation::OnLocked(ipc::ReceivedMessage& message) {
  if (!lacks_listener() || said_ready_ || message.descriptors.size() != 1) {
    return Misbehaved("locked itself down out of turn");
  }
  ASSIGN_OR_RETURN(auto listener, sandbox::ViolationListener::Adopt(
                                      std::move(message.descriptors[0])));
  violations_ = std::make_unique<ViolationWatch>(port_, std::move(listener),
                                                 expected_calls_);
  tasks_->add(violations_->Serve());
  return Status();
}

Status Incarnation::CountAnswer() {
  if (++answers_ >= next_ticket_) {
    return Misbehaved("answered what it was not asked");
  }
  expected_calls_.CloneAnswered();
  return Status();
}

Status Incarnation::OnCloned(schema::Cloned::Reader cloned_untrusted) {
  RETURN_IF_ERROR(CountAnswer());
  const auto found = pending_.find(cloned_untrusted.getTicket());
  // The ticket may have expired. Then nobody holds the other end of the
  // worker's socket, and the worker ends by itself.
  if (found == pending_.end()) return Status();
  const pid_t pid_untrusted = cloned_untrusted.getPid();
  if (pid_untrusted <= 1 || found->second.pid || PendingOf(pid_untrusted)) {
    return Misbehaved("named an impossible process");
  }
  found->second.pid = pid_untrusted;
  StopIdleZygote();
  AskToWatch(pid_untrusted);
  return Status();
}

void Incarnation::AskToWatch(pid_t pid_untrusted) {
  // The zygote could name any process. Only the reaper knows whether that one
  // is a child of its own, and opens the pidfd.
  capnp::MallocMessageBuilder request;
  request.initRoot<schema::ReaperRequest>().setWatch(pid_untrusted);
  SendToReaper(request, [this, pid_untrusted] {
    if (PendingOf(pid_untrusted)) AskToWatch(pid_untrusted);
  });
}

void Incarnation::OnStarved(pid_t pid) {
  const Status starved(
      Code::kResourceExhausted,
      "its reaper cannot send a descriptor: other programs of this user have "
      "too many in flight through sockets; try again");
  if (zygote_inner_pid_ == 0) {
    if (!readiness_) ResolveReadiness(starved);
    return;
  }
  Pending* const pending = PendingOf(pid);
  if (!pending) return;
  pending->starved = starved;
  tasks_->add(timer_.afterDelay(kStarvedPause).then([this, pid] {
    if (PendingOf(pid)) AskToWatch(pid);
  }));
}

Status Incarnation::OnCloneFailed(
    schema::CloneFailed::Reader failed_untrusted) {
  RETURN_IF_ERROR(CountAnswer());
  const auto found = pending_.find(failed_untrusted.getTicket());
  if (found == pending_.end()) return Status();
  const auto failure_untrusted = failed_untrusted.getFailure();
  // Believed, since it changes nothing but the caller's advice and that such a
  // start begins a backoff and no quarantine.
  declined_ =
      failure_untrusted.getCode() == schema::ErrorCode::RESOURCE_EXHAUSTED;
  found->second.fulfiller->fulfill(NamingLimits(Status(
      declined_ ? Code::kResourceExhausted : Code::kBackendUnavailable,
      "the backend's zygote could not clone a worker, and says: \"" +
          CleanText(failure_untrusted.getMessage().cStr(), kMaxReasonBytes) +
          '"')));
  pending_.erase(found);
  StopIdleZygote();
  EndStrangers();
  return Status();
}

}  // namespace bulkhead::supervisor
