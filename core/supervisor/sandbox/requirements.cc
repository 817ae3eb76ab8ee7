// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/sandbox/requirements.h"

#include <string>

namespace bulkhead::sandbox {

Status CheckRequirements(const Requirements& requirements,
                         const SandboxReport& report) {
  if (report.tier < requirements.floor || report.tier == Tier::kNone) {
    return Status(Code::kSandboxUnavailable,
                  std::string("this machine offers sandbox tier \"") +
                      TierName(report.tier) + "\", below the floor \"" +
                      TierName(requirements.floor) + "\"; " +
                      report.gaps.front().Sentence() +
                      "; `bulkhead doctor` says what to do about it" +
                      (report.tier == Tier::kReduced
                           ? ", or accept less: --sandbox-floor reduced or "
                             "BULKHEAD_SANDBOX_FLOOR=reduced"
                           : ""));
  }
  if (requirements.memory_cgroup && !report.cgroup.Has("memory")) {
    return Status(Code::kSandboxUnavailable,
                  "no cgroup can limit the memory of a backend here, which "
                  "--require-memory-cgroup, BULKHEAD_REQUIRE_MEMORY_CGROUP or "
                  "the option require_memory_cgroup requires: " +
                      report.cgroup.evidence +
                      "; `bulkhead doctor` says what to do about it, or no "
                      "longer require it");
  }
  return Status();
}

}  // namespace bulkhead::sandbox
