// SPDX-License-Identifier: Apache-2.0
#include "core/include/bulkhead/crashes.h"

#include <unistd.h>

#include "core/application/api/state_path.h"
#include "core/base/environment.h"
#include "core/base/state_directory.h"
#include "core/base/status_macros.h"
#include "core/crashes/crash_store.h"

namespace bulkhead {
namespace {

Result<std::string> PathOf(const std::optional<std::string>& state_directory) {
  return ResolveStatePath(Environment::FromProcess(), state_directory,
                          ::geteuid() == 0);
}

Result<crashes::CrashStore> StoreOf(
    const std::optional<std::string>& state_directory) {
  ASSIGN_OR_RETURN(std::string path, PathOf(state_directory));
  return crashes::CrashStore(std::move(path));
}

}  // namespace

Result<CrashList> ReadCrashes(
    const std::optional<std::string>& state_directory) {
  ASSIGN_OR_RETURN(const crashes::CrashStore store, StoreOf(state_directory));
  if (store.enabled()) return store.ReadAll();
  CrashList none;
  none.diagnostics.push_back(
      {Diagnostic::Severity::kNote, "", 0,
       "no record is kept: " + CheckStateDirectory(state_directory).message()});
  return none;
}

Result<Crash> ReadCrash(uint64_t number,
                        const std::optional<std::string>& state_directory) {
  ASSIGN_OR_RETURN(const crashes::CrashStore store, StoreOf(state_directory));
  return store.Read(number);
}

Status ClearCrashes(const std::optional<std::string>& state_directory) {
  ASSIGN_OR_RETURN(const crashes::CrashStore store, StoreOf(state_directory));
  return store.Clear();
}

Status CheckStateDirectory(const std::optional<std::string>& state_directory) {
  ASSIGN_OR_RETURN(const std::string path, PathOf(state_directory));
  if (!path.empty()) return StateDirectory::CheckKeeps(path);
  const auto environment = Environment::FromProcess();
  return Status(Code::kInvalidArgument,
                std::string("there is no state directory (") +
                    (state_directory ? "option state_directory is empty"
                     : environment.Get("BULKHEAD_STATE_DIR")
                         ? "BULKHEAD_STATE_DIR is empty"
                         : "HOME is not set; name one by BULKHEAD_STATE_DIR") +
                    ")");
}

std::string Summary(const Crash& crash) {
  return crash.process + (crash.device.empty() ? "" : " of " + crash.device) +
         " (backend " + crash.backend.name + "): " + crash.cause;
}

}  // namespace bulkhead
