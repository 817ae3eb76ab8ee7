// SPDX-License-Identifier: Apache-2.0
#include "core/application/session/death_account.h"

#include <signal.h>

#include <algorithm>
#include <utility>

#include "core/base/application_limits.h"
#include "core/control/exit_report.h"
#include "core/worker_protocol/step_deadline.h"
#include "ipc/limit_name.h"

namespace bulkhead::session {
namespace {

struct Cause {
  Code code;
  const char* advice;
};

// Returns the error code, and advice for the caller, when the attempts at one
// position have run out.
Cause CauseOf(const supervisor_link::ExitVerdict& verdict) {
  if (verdict.report.kind == ExitReport::Kind::kDeadline) {
    return {Code::kDeadlineExceeded,
            "raise that deadline, try another backend or skip the file"};
  }
  if (verdict.report.kind == ExitReport::Kind::kOutOfMemory) {
    return {Code::kResourceExhausted,
            "let it have more memory (bulkhead grant BACKEND memory=N) or skip "
            "the file"};
  }
  if (verdict.device_to_blame) {
    return {Code::kBackendLost,
            "its device was lost: retry later or use another"};
  }
  if (!verdict.input_to_blame) {
    return {Code::kBackendLost, "try another backend"};
  }
  return {Code::kPoisonedInput, "skip this file or try another backend"};
}

// Returns whether an innocent death is a kill (DeathAccount): somebody outside
// of Bulkhead ended the worker, or stopped it until it was late. Often that is
// the kernel, which needs memory.
bool IsKill(const supervisor_link::ExitVerdict& verdict) {
  const ExitReport& report = verdict.report;
  return report.kind == ExitReport::Kind::kOutOfMemory ||
         report.kind == ExitReport::Kind::kDeadline ||
         (report.kind == ExitReport::Kind::kSignaled &&
          (report.value == SIGKILL || IsRequestToEnd(report.value)));
}

std::string Attempts(uint32_t count) {
  return std::to_string(count) + (count == 1 ? " attempt" : " attempts");
}

DeathAccount::GivenUp TooManyKills(uint32_t kills, const ExitReport& last) {
  const std::string begin = "given up after " + std::to_string(kills) +
                            (kills == 1 ? " such death, " : " such deaths, ");
  const std::string raise = "raise " + ipc::LimitName("kills_per_position");
  if (last.kind == ExitReport::Kind::kDeadline) {
    return {Code::kDeadlineExceeded,
            begin +
                "since another process stops its workers: find out which does, "
                "or " +
                raise};
  }
  if (last.kind == ExitReport::Kind::kSignaled && last.value != SIGKILL) {
    return {Code::kBackendLost,
            begin +
                "since another program sends its workers this signal: find out "
                "which does, or " +
                raise};
  }
  return {Code::kResourceExhausted,
          begin +
              "as the kernel does this to a worker where the machine has no "
              "memory left: free memory, decode fewer files at a time, lower " +
              ipc::LimitName("worker_bytes") +
              ", or, if somebody else kills workers, " + raise};
}

}  // namespace

void DeathAccount::Want(uint64_t frame) {
  if (blamed_ahead_ != frame) return;
  blamed_ahead_.reset();
  ++blamed_;
}

InputPosition Awaited::position() const {
  if (!opened) return {InputPosition::Step::kOpening};
  if (asked == Step::kScan) return {InputPosition::Step::kScanning};
  return {InputPosition::Step::kFrame, frame()};
}

std::optional<DeathAccount::GivenUp> DeathAccount::Count(
    Awaited& at, Code death, const supervisor_link::ExitVerdict& verdict,
    bool overdue) {
  // A worker that broke the protocol is never replaced. Its end is not counted
  // for the position.
  if (death == Code::kBackendMisbehaved)
    return GivenUp{death, "report it to the vendor of the backend"};
  const bool ahead = std::exchange(at.ahead, false);
  if (verdict.blamed && ahead) blamed_ahead_ = at.wanted + 1;
  verdict.blamed ? ++blamed_ : ++innocent_;
  if (!verdict.blamed && !verdict.lacked_tasks && IsKill(verdict)) ++kills_;
  // Takes the larger count: bulkheadd also knows deaths in other sessions, and
  // this session also knows deaths that an earlier bulkheadd has counted.
  const uint32_t attempts = std::max(blamed_, verdict.deaths_here);
  // If the worker was ahead, another worker is tried in any case: it is not
  // ahead when it decodes the wanted frame.
  if (!ahead && attempts >= attempts_) {
    const Cause cause = CauseOf(verdict);
    return GivenUp{cause.code, "given up after " + Attempts(attempts) + ", " +
                                   cause.advice};
  }
  // Without this limit, each worker could deliver one frame and die, and a call
  // for many frames would take very long.
  if (overdue && verdict.blamed) {
    return GivenUp{
        Code::kDeadlineExceeded,
        "given up because its call takes too long, more than " +
            std::to_string(worker_protocol::StepDeadline::kMostTimeouts) +
            " times " + worker_protocol::NameOf(&Deadlines::frame) +
            ": raise that deadline, try another backend or skip the file"};
  }
  // The application has a limit of processor time, at which the kernel sends
  // SIGKILL, so this is the likely cause.
  if (const auto seconds = ProcessorSeconds();
      seconds && kills_ > kills_allowed_ &&
      verdict.report.kind == ExitReport::Kind::kSignaled &&
      verdict.report.value == SIGKILL) {
    return GivenUp{
        Code::kResourceExhausted,
        "given up after " + std::to_string(kills_) +
            " such deaths, as the kernel does this to a process that takes "
            "more than " +
            std::to_string(*seconds) +
            " s of processor time where the application was started with such "
            "a limit (ulimit -t): raise it there and start the application "
            "again"};
  }
  if (kills_ > kills_allowed_) {
    return TooManyKills(kills_, verdict.report);
  }
  // Nothing is to blame, but the session must give up at some point, even if
  // another program kills its workers again and again.
  if (innocent_ > restarts_) {
    return GivenUp{
        Code::kBackendLost,
        "given up after " + std::to_string(innocent_) +
            (innocent_ == 1 ? " restart, retry" : " restarts, retry")};
  }
  return std::nullopt;
}

void DeathAccount::Progressed() {
  blamed_ = 0;
  innocent_ = 0;
  kills_ = 0;
}

}  // namespace bulkhead::session
