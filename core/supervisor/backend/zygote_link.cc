// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/backend/zygote_link.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <utility>

#include "core/base/clean_text.h"
#include "core/base/from_ipc.h"
#include "core/base/pidfd.h"
#include "core/base/status_macros.h"
#include "core/control/exit_report.h"
#include "core/supervisor/backend/reaper_link.h"
#include "ipc/capnp_read.h"

namespace bulkhead::backend {
namespace {

namespace schema = ipc::schema;
using std::chrono::milliseconds;

constexpr size_t kMaxReasonBytes = 512;

}  // namespace

Status ZygoteLink::Misbehaved(const std::string& what) {
  return Status(Code::kBackendMisbehaved, "the backend's zygote " + what);
}

ZygoteLink::ZygoteLink(kj::UnixEventPort& port, ipc::UniqueFd control,
                       sandbox::Forbidden forbidden,
                       sandbox::ExpectedCalls& expected,
                       const sandbox::LoadedMemory& loading, kj::TaskSet& tasks,
                       Listener& listener)
    : port_(port),
      timer_(port.getTimer()),
      socket_(port, std::move(control)),
      forbidden_(forbidden),
      expected_calls_(expected),
      tasks_(tasks),
      listener_(listener),
      readiness_(timer_, expected, loading, tasks, [this](std::string reason) {
        Kill(Code::kBackendLost, std::move(reason));
      }) {}

pid_t ZygoteLink::pid() const {
  return alive_ && pidfd_ ? PidOf(pidfd_.get()) : 0;
}

bool ZygoteLink::runs() const { return alive_ && !HasEnded(pidfd_.get()); }

kj::Promise<void> ZygoteLink::Serve() {
  return socket_.Receive(lacks_listener() ? 1 : 0)
      .then([this](auto received) -> kj::Promise<void> {
        if (received && !*received) {
          alive_ = false;
          heard_out_ = true;
          if (exit_ || !end_.empty()) {
            OnGone();
            return kj::READY_NOW;
          }
          // The socket closes before the process has ended. The reaper's report
          // decides whose fault it was, and is worth waiting for.
          return timer_.afterDelay(ReaperLink::kPatience).then([this] {
            OnGone();
          });
        }
        const Status status = received ? OnEvent(**received)
                                       : FromIpc(std::move(received).error());
        if (!status.ok()) {
          // kResourceExhausted: the kernel lacked memory for the zygote's
          // message.
          Kill(status.code() == Code::kResourceExhausted
                   ? Code::kResourceExhausted
                   : Code::kBackendMisbehaved,
               status.message());
          return kj::READY_NOW;
        }
        return Serve();
      });
}

Status ZygoteLink::OnEvent(ipc::ReceivedMessage& message) {
  const auto handled = ipc::ReadCatching([&]() -> ipc::Expected<Status> {
    auto root = message.root<schema::ZygoteEvent>();
    if (!root) return tl::unexpected(std::move(root).error());
    const auto event_untrusted = *root;
    switch (event_untrusted.which()) {
      case schema::ZygoteEvent::LOCKED:
        return OnLocked(message);
      case schema::ZygoteEvent::READY:
        if (readiness_.known() || readiness_.said_ready()) {
          return Misbehaved("said twice whether it is ready");
        }
        readiness_.NoteReady();
        readiness_.Check(pidfd_.get(), lacks_listener());
        return Status();
      case schema::ZygoteEvent::FAILED:
        return OnFailed(event_untrusted.getFailed());
      case schema::ZygoteEvent::CLONED:
        return listener_.OnCloned(event_untrusted.getCloned());
      case schema::ZygoteEvent::CLONE_FAILED:
        return listener_.OnCloneFailed(event_untrusted.getCloneFailed());
      case schema::ZygoteEvent::CRASHED:
        if (claim_) return Misbehaved("said twice how it crashed");
        claim_ = ReadCrashNote(event_untrusted.getCrashed());
        return Status();
    }
    return Misbehaved("sent an unknown message");
  });
  return handled ? *handled : FromIpc(handled.error());
}

Status ZygoteLink::OnLocked(ipc::ReceivedMessage& message) {
  if (!lacks_listener() || readiness_.said_ready() ||
      message.descriptors.size() != 1) {
    return Misbehaved("locked itself down out of turn");
  }
  ASSIGN_OR_RETURN(auto listener, sandbox::SeccompListener::Adopt(
                                      std::move(message.descriptors[0])));
  violations_ = std::make_unique<ViolationWatch>(port_, std::move(listener),
                                                 expected_calls_);
  tasks_.add(violations_->Serve());
  return Status();
}

Status ZygoteLink::OnFailed(schema::Failure::Reader failed_untrusted) {
  if (readiness_.known() || readiness_.said_ready()) {
    return Misbehaved("said twice whether it is ready");
  }
  // Before the zygote hands over its listener, it runs only Bulkhead's own
  // code. So its claim is believed: it lacked the resources to send the
  // listener.
  readiness_.Fail(
      Status(lacks_listener() && failed_untrusted.getCode() ==
                                     schema::ErrorCode::RESOURCE_EXHAUSTED
                 ? Code::kResourceExhausted
                 : Code::kBackendUnavailable,
             CleanText(failed_untrusted.getMessage().cStr(), kMaxReasonBytes)),
      /*declined=*/true);
  return Status();
}

void ZygoteLink::OnStarted(pid_t inner_pid, ipc::UniqueFd pidfd) {
  inner_pid_ = inner_pid;
  if (pidfd) pidfd_ = std::move(pidfd);
  readiness_.Check(pidfd_.get(), lacks_listener());
}

void ZygoteLink::Kill(Code code, std::string reason) {
  // The reason is set before the reaper reports the SIGKILL, which would
  // otherwise look like a SIGKILL of others.
  end_ = std::move(reason);
  killed_for_ = code;
  if (pidfd_) Signal(SIGKILL);
  OnGone(code);
}

void ZygoteLink::Excuse(std::string reason) {
  lost_ = true;
  end_ = std::move(reason);
}

void ZygoteLink::Stop() {
  Signal(SIGSTOP);
  stopped_ = true;
}

void ZygoteLink::Continue() {
  if (!stopped_) return;
  Signal(SIGCONT);
  stopped_ = false;
}

void ZygoteLink::Signal(int signal) {
  ::syscall(SYS_pidfd_send_signal, pidfd_.get(), signal, nullptr, 0);
}

void ZygoteLink::OnExited(blame::ProcessExit exit) {
  // A zygote is always in stage 1. ToProcessExit() derived the stage from the
  // number of filters, and vendor code may have added its own.
  if (exit.violation) exit.stage = 1;
  exit_ = blame::ToReport(exit);
  lost_ = end_.empty() && blame::IsForeignKill(exit);
  alive_ = false;
  if (readiness_.known() || heard_out_) return OnGone();
  // The last message of the zygote, such as why it cannot load, may still be in
  // its socket. It explains more than the exit status.
  tasks_.add(
      timer_.afterDelay(ReaperLink::kPatience).then([this] { OnGone(); }));
}

void ZygoteLink::OnReaperGone(const std::optional<blame::ProcessExit>& reaper) {
  if (!exit_ && end_.empty()) {
    lost_ = true;
    if (reaper) {
      end_ = "its reaper, without which nothing of it can run, ended: " +
             DescribeExit(blame::ToReport(*reaper));
    }
  }
  OnGone();
}

void ZygoteLink::OnGone(Code code) {
  alive_ = false;
  if (exit_ && end_.empty()) {
    if (claim_) AddClaim(*std::move(claim_), *exit_);
    end_ = DescribeExit(*exit_);
  }
  const Status lost(code, "the backend's zygote died" +
                              (end_.empty() ? std::string() : ": " + end_));
  readiness_.Fail(Status(Code::kBackendUnavailable,
                         end_.empty() ? "its process died while loading"
                                      : end_ + " while loading"));
  listener_.OnZygoteGone(lost);
  going_.fulfiller->fulfill();
}

ExitReport ZygoteLink::report() const {
  if (!killed_for_) return exit_.value_or(ExitReport());
  ExitReport report;
  if (*killed_for_ == Code::kBackendMisbehaved) {
    report.kind = ExitReport::Kind::kProtocolViolation;
  }
  return report;
}

}  // namespace bulkhead::backend
