// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/blame/process_exit.h"

#include <signal.h>
#include <sys/wait.h>

#include <utility>

#include "core/supervisor/sandbox/system_call_name.h"
#include "core/supervisor/sandbox/thread_status.h"
#include "ipc/worker_exit.h"

namespace bulkhead::blame {
namespace {

ExitReport::Kind ToKind(ProcessExit::Kind kind) {
  switch (kind) {
    case ProcessExit::Kind::kExited:
      return ExitReport::Kind::kExited;
    case ProcessExit::Kind::kSignaled:
      return ExitReport::Kind::kSignaled;
    case ProcessExit::Kind::kViolation:
      return ExitReport::Kind::kSandboxViolation;
    case ProcessExit::Kind::kOutOfMemory:
      return ExitReport::Kind::kOutOfMemory;
    case ProcessExit::Kind::kRunning:
    case ProcessExit::Kind::kUnknown:
      break;
  }
  return ExitReport::Kind::kUnknown;
}

// Finds the stage by the number of filters: a worker in stage 2 has more of
// them than its zygote. Returns 0 where the kernel does not count filters.
int StageOf(const sandbox::Violation& violation) {
  if (!violation.filters) return 0;
  const uint32_t in_stage1 =
      sandbox::InheritedFilters() + sandbox::kStage1Filters;
  return *violation.filters > in_stage1 ? 2 : 1;
}

}  // namespace

ProcessExit ToProcessExit(int wait_status,
                          std::optional<sandbox::Violation> violation) {
  ProcessExit exit;
  if (violation) {
    exit.kind = ProcessExit::Kind::kViolation;
    exit.value = SIGSYS;
    exit.stage = StageOf(*violation);
    exit.violation = std::move(violation);
  } else if (WIFSIGNALED(wait_status)) {
    exit.value = WTERMSIG(wait_status);
    exit.kind = exit.value == SIGSYS ? ProcessExit::Kind::kViolation
                                     : ProcessExit::Kind::kSignaled;
  } else if (const auto fault = ipc::FaultOf(WEXITSTATUS(wait_status))) {
    exit.kind = ProcessExit::Kind::kSignaled;
    exit.value = *fault;
  } else {
    exit.kind = ProcessExit::Kind::kExited;
    exit.value = WEXITSTATUS(wait_status);
  }
  return exit;
}

bool IsForeignKill(const ProcessExit& exit) {
  return exit.kind == ProcessExit::Kind::kSignaled && exit.value == SIGKILL;
}

ExitReport ToReport(const ProcessExit& exit) {
  ExitReport report;
  report.kind = ToKind(exit.kind);
  report.value = exit.value;
  report.stage = exit.stage;
  if (exit.violation) {
    sandbox::SystemCallName name = sandbox::NameSystemCall(
        exit.violation->number, exit.violation->architecture);
    report.syscall_trusted = true;
    report.syscall_number = exit.violation->number;
    report.syscall = std::move(name.name);
    report.architecture = std::move(name.architecture);
  }
  return report;
}

}  // namespace bulkhead::blame
