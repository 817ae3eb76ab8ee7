// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/blame/process_exit.h"

#include <signal.h>
#include <sys/wait.h>

#include <utility>

#include "core/supervisor/sandbox/system_call_name.h"
#include "core/supervisor/sandbox/thread_status.h"

namespace bulkhead::supervisor {
namespace {

ExitReport::Kind ToKind(WorkerEnd::Kind kind) {
  switch (kind) {
    case WorkerEnd::Kind::kExited:
      return ExitReport::Kind::kExited;
    case WorkerEnd::Kind::kSignaled:
      return ExitReport::Kind::kSignaled;
    case WorkerEnd::Kind::kViolation:
      return ExitReport::Kind::kSandboxViolation;
    case WorkerEnd::Kind::kOutOfMemory:
      return ExitReport::Kind::kOutOfMemory;
    case WorkerEnd::Kind::kRunning:
    case WorkerEnd::Kind::kUnknown:
      break;
  }
  return ExitReport::Kind::kUnknown;
}

// Stage 2 is what has more filters than the zygote; 0 where nobody counts.
int StageOf(const sandbox::Violation& violation) {
  if (!violation.filters) return 0;
  const uint32_t in_stage1 =
      sandbox::InheritedFilters() + sandbox::kStage1Filters;
  return *violation.filters > in_stage1 ? 2 : 1;
}

}  // namespace

WorkerEnd EndOf(int wait_status, std::optional<sandbox::Violation> violation) {
  WorkerEnd end;
  if (violation) {
    end.kind = WorkerEnd::Kind::kViolation;
    end.value = SIGSYS;
    end.stage = StageOf(*violation);
    end.violation = std::move(violation);
  } else if (WIFSIGNALED(wait_status)) {
    end.value = WTERMSIG(wait_status);
    end.kind = end.value == SIGSYS ? WorkerEnd::Kind::kViolation
                                   : WorkerEnd::Kind::kSignaled;
  } else {
    end.kind = WorkerEnd::Kind::kExited;
    end.value = WEXITSTATUS(wait_status);
  }
  return end;
}

bool IsForeignKill(const WorkerEnd& end) {
  return end.kind == WorkerEnd::Kind::kSignaled && end.value == SIGKILL;
}

ExitReport ToReport(const WorkerEnd& end) {
  ExitReport report;
  report.kind = ToKind(end.kind);
  report.value = end.value;
  report.stage = end.stage;
  if (end.violation) {
    sandbox::SystemCallName name = sandbox::NameSystemCall(
        end.violation->number, end.violation->architecture);
    report.syscall_trusted = true;
    report.syscall_number = end.violation->number;
    report.syscall = std::move(name.name);
    report.architecture = std::move(name.architecture);
  }
  return report;
}

}  // namespace bulkhead::supervisor
