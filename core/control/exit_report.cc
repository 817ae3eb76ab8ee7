// SPDX-License-Identifier: Apache-2.0
#include "core/control/exit_report.h"

#include <signal.h>

#include <cstring>

#include "ipc/worker_exit.h"

namespace bulkhead {
namespace {

// These three return the words that follow the subject.
std::string DescribeViolation(const ExitReport& report) {
  std::string text = " was killed by its sandbox";
  if (report.stage > 0) {
    text += " (stage " + std::to_string(report.stage) + ")";
  }
  if (!report.syscall_trusted) {
    return text + " for a forbidden system call; which one is not known";
  }
  text += " for the system call ";
  const std::string number = std::to_string(report.syscall_number);
  return report.syscall.empty()
             ? text + number + " (" + report.architecture + ")"
             : text + report.syscall + " (" + number + ", " +
                   report.architecture + ")";
}

std::string DescribeSignal(const ExitReport& report) {
  std::string text = " was ended by signal " + std::to_string(report.value) +
                     " (" + ::strsignal(report.value) + ")";
  if (!report.claimed_backtrace.empty()) {
    text += ", by its own account in " + report.claimed_backtrace.front();
  }
  return text;
}

std::string DescribeExitCode(const ExitReport& report) {
  const bool lost = report.value == ipc::kExitDeviceLost;
  const bool failed = report.value == ipc::kExitBackendFailed;
  if (report.value == ipc::kExitLockdown) {
    return " exited with code 5, with which a worker says that stage 2 of "
           "its sandbox, or the limit of its memory, cannot be installed";
  }
  if ((!lost && !failed) || report.claimed_backtrace.empty()) {
    return " exited with code " + std::to_string(report.value);
  }
  // The first line of the claim is the backend's sentence (CrashClaim).
  return std::string(" exited because its ") +
         (lost ? "device is lost" : "backend failed") +
         ", by its own account: " + report.claimed_backtrace.front();
}

}  // namespace

std::string DescribeExit(const ExitReport& report, const std::string& subject) {
  switch (report.kind) {
    case ExitReport::Kind::kExited:
      return subject + DescribeExitCode(report);
    case ExitReport::Kind::kSignaled:
      return subject + DescribeSignal(report);
    case ExitReport::Kind::kSandboxViolation:
      return subject + DescribeViolation(report);
    case ExitReport::Kind::kDeadline:
      return subject + " took too long and was killed";
    case ExitReport::Kind::kProtocolViolation:
      return subject + " broke the protocol and was killed";
    case ExitReport::Kind::kOutOfMemory:
      return subject +
             " was killed because its backend was at its limit of memory";
    case ExitReport::Kind::kUnknown:
      break;
  }
  return "how it ended is not known";
}

bool IsRequestToEnd(int signal) {
  switch (signal) {
    case SIGTERM:
    case SIGINT:
    case SIGHUP:
    case SIGQUIT:
    case SIGUSR1:
    case SIGUSR2:
      return true;
    default:
      return false;
  }
}

std::string SeeCrash(uint64_t crash) {
  if (crash == 0) return "";
  return "; see `bulkhead crashes show " + std::to_string(crash) + "`";
}

}  // namespace bulkhead
