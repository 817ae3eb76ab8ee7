// SPDX-License-Identifier: Apache-2.0
#include "core/include/bulkhead/crashes.h"

#include <unistd.h>

#include "core/application/api/state_path.h"
#include "core/base/environment.h"
#include "core/base/status_macros.h"
#include "core/crashes/crash_store.h"

namespace bulkhead {
namespace {

Result<crashes::CrashStore> StoreOf(
    const std::optional<std::string>& state_directory) {
  ASSIGN_OR_RETURN(std::string path,
                   ResolveStatePath(discovery::Environment::FromProcess(),
                                    state_directory, ::geteuid() == 0));
  return crashes::CrashStore(std::move(path));
}

}  // namespace

Result<CrashList> ReadCrashes(
    const std::optional<std::string>& state_directory) {
  ASSIGN_OR_RETURN(const crashes::CrashStore store, StoreOf(state_directory));
  return store.ReadAll();
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

std::string Summary(const Crash& crash) {
  return crash.process + (crash.device.empty() ? "" : " of " + crash.device) +
         " (backend " + crash.backend.name + "): " + crash.cause;
}

}  // namespace bulkhead
