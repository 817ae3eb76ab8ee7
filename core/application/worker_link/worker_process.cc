// SPDX-License-Identifier: Apache-2.0
#include "core/application/worker_link/worker_process.h"

#include <utility>

#include "core/base/application_limits.h"
#include "core/worker_protocol/reply_validation.h"
#include "core/worker_protocol/step_deadline.h"
#include "ipc/limit_name.h"

namespace bulkhead::worker_link {

namespace schema = ipc::schema;

WorkerProcess::WorkerProcess(
    std::shared_ptr<supervisor_link::SupervisorLink> supervisor,
    supervisor_link::StartedWorker started,
    std::shared_ptr<supervisor_link::CancelSignal> cancel)
    : supervisor_(std::move(supervisor)),
      started_(std::move(started)),
      end_(started_.end.WorkerOf(started_.session)),
      cancel_(std::move(cancel)) {}

void WorkerProcess::AwaitClosing(std::chrono::milliseconds patience) {
  dead_ = true;
  gone_ = Ends(How::CLOSE, patience).value_or(false);
}

Result<bool> WorkerProcess::Ends(How how,
                                 std::chrono::milliseconds patience) const {
  // Only bulkheadd writes end_, so the word is trusted, and bulkheadd need not
  // be asked.
  if (end_.ends() && how != How::CLOSE) return true;
  auto ended = supervisor_->sessions().EndWorker(
      started_, how, patience, how == How::CLOSE ? nullptr : &*cancel_);
  // Raises the signal again: the next function that checks it ends the call of
  // the application.
  if (!ended && ended.error().code() == Code::kCancelled) cancel_->Raise();
  return ended;
}

Status WorkerProcess::Died() {
  dead_ = true;
  // The end may be reported a moment before the process is dead, for example
  // because its socket has closed. So this function waits. A process that lives
  // on has pretended to end, which breaks the protocol. If bulkheadd has ended,
  // the worker ends too, but gone_ stays false, since nobody reports its end.
  const auto ended = Ends(How::AWAIT, supervisor_->deadlines().close);
  gone_ = ended.value_or(false);
  if (ended && !*ended) {
    return Misbehaved("it reported its own end but lives on");
  }
  return Status(Code::kBackendLost, "the worker of device " + started_.device +
                                        " (backend " + started_.backend +
                                        ") died");
}

Status WorkerProcess::Kill(Code code, ExitReport::Kind kind,
                           std::string message) {
  dead_ = true;
  killed_for_ = kind;
  killed_because_ = "it " + message;
  gone_ = Ends(How::KILL, supervisor_->deadlines().close).value_or(false);
  return Status(code, "the worker of device " + started_.device + " (backend " +
                          started_.backend + ") " + std::move(message));
}

Status WorkerProcess::TookTooLong(
    const char* what, std::chrono::milliseconds Deadlines::*deadline,
    int times) {
  return Kill(Code::kDeadlineExceeded, ExitReport::Kind::kDeadline,
              std::string("took too long to ") + what + ", more than " +
                  (times > 1 ? std::to_string(times) + " times " : "") +
                  "the " +
                  std::to_string((supervisor_->deadlines().*deadline).count()) +
                  " ms of " + worker_protocol::NameOf(deadline));
}

Status WorkerProcess::Misbehaved(const std::string& what) {
  return Kill(Code::kBackendMisbehaved, ExitReport::Kind::kProtocolViolation,
              "broke the protocol: " + what);
}

Status WorkerProcess::BrokeAbi(const std::string& report) {
  claims_cause_ = true;
  return Kill(Code::kBackendMisbehaved, ExitReport::Kind::kProtocolViolation,
              "reports that its backend breaks bulkhead_backend.h: " + report);
}

Status WorkerProcess::FailureOf(schema::Failed::Reader failed_untrusted) {
  const auto failure_untrusted = failed_untrusted.getFailure();
  auto claimed = worker_protocol::ValidateFailure(failure_untrusted);
  if (!claimed) {
    const std::string& why = claimed.error().message();
    return failure_untrusted.getCode() ==
                   ipc::schema::ErrorCode::BACKEND_MISBEHAVED
               ? BrokeAbi(why)
               : Misbehaved(why);
  }
  const Status& failure = claimed->status;
  // bulkheadd may know that the backend ran out of tasks, and end the worker.
  if (failure.code() == Code::kResourceExhausted &&
      Ends(How::LACKING, supervisor_->deadlines().close).value_or(false)) {
    return Died();
  }
  // Adds the limits of Bulkhead to raise, but not if low limits of the
  // application explain the failure (NamingLimits() names them later) or if the
  // message names a limit already.
  const bool theirs = SaysExhausted(failure.message()) && !LowLimits().empty();
  if (failure.code() != Code::kResourceExhausted || theirs ||
      failure.message().find(ipc::kLimitMark) != std::string::npos) {
    return std::move(claimed->status);
  }
  return Status(failure.code(), failure.message() +
                                    "; if its memory was short, raise " +
                                    ipc::LimitName("worker_bytes") +
                                    ", if its pictures are too large, " +
                                    ipc::LimitName("frame_pixels"));
}

supervisor_link::ExitVerdict WorkerProcess::TakeExit(
    supervisor_link::ObservedExit seen) {
  using How = supervisor_link::ObservedExit::How;
  if (killed_for_ == ExitReport::Kind::kDeadline) seen.how = How::kLate;
  if (killed_for_ == ExitReport::Kind::kProtocolViolation)
    seen.how = How::kLied;
  if (seen.how != How::kDied) {
    seen.cause = killed_because_;
    seen.claims_cause = claims_cause_;
  }
  supervisor_link::ExitVerdict exit =
      supervisor_->sessions().SessionExit(started_, seen, *cancel_);
  // bulkheadd reports the SIGKILL that the link sent, not the reason for it.
  if (seen.how != How::kDied) exit.report.kind = killed_for_;
  return exit;
}

}  // namespace bulkhead::worker_link
