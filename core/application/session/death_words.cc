// SPDX-License-Identifier: Apache-2.0
#include "core/application/session/death_words.h"

#include <signal.h>

#include <utility>

#include "core/base/application_limits.h"
#include "core/control/exit_report.h"
#include "core/crashes/crash_store.h"
#include "core/include/bulkhead/host_options.h"
#include "ipc/limit_name.h"

namespace bulkhead::session {

Status GivenUpError(const DeathAccount::GivenUp& given_up, std::string death,
                    const supervisor_link::ExitVerdict& verdict,
                    uint64_t worker_bytes, const std::string& state_directory) {
  const ExitReport& report = verdict.report;
  std::string message = std::move(death);
  if (!given_up.reason.empty()) message += "; " + given_up.reason;
  if (const std::string low = LowLimits(); !low.empty()) {
    message += "; if it lacked something, " + RaiseTheLimits(low);
  }
  // Many programs abort when they run out of memory.
  if (report.kind == ExitReport::Kind::kSignaled && report.value == SIGABRT &&
      worker_bytes < Limits().worker_bytes) {
    message += "; if it lacked memory, of which it may have " +
               std::to_string(worker_bytes) + " bytes, raise " +
               ipc::LimitName("worker_bytes");
  }
  message += SeeCrash(report.crash);
  if (verdict.blamed && report.crash == 0 && !state_directory.empty()) {
    const Status kept = crashes::CrashStore(state_directory).CheckKeeps();
    message +=
        "; no record of it could be kept" +
        (kept.ok() ? " in " + state_directory + ", `bulkhead events` says why"
                   : ": " + kept.message());
  }
  return Status(given_up.code, std::move(message), report);
}

}  // namespace bulkhead::session
