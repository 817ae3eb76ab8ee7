// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/supervisor/sandbox/granted_paths.h"
#include "core/supervisor/sandbox/policy.h"

namespace bulkhead::sandbox {

// Landlock rulesets as data. A plan restricts every right that the running
// kernel can handle, and allows reading what the policy makes visible and using
// the devices that it names. The zygote installs the plan; a session worker
// adds a ruleset with the same rights and no rule at all.
//
// In tier full Landlock is a second wall beside the new root. In tier reduced
// it is the only wall around files. MissingFrom() names the restrictions that
// an old ABI lacks.

struct LandlockRule {
  std::string path;
  uint64_t access;
  // The object that `path` must lead to; not set for the system's libraries.
  std::optional<ObjectIdentity> identity;
};

struct LandlockPlan {
  uint32_t abi = 0;  // 0: the kernel has no Landlock; the plan is empty.
  uint64_t handled_fs = 0;
  uint64_t handled_net = 0;
  uint64_t scoped = 0;
  std::vector<LandlockRule> rules;
};

// Returns the ABI of the running kernel, or 0 if Landlock is missing or
// switched off.
uint32_t LandlockAbi();

// Returns the plan for `policy` on a kernel with this ABI.
LandlockPlan PlanLandlock(uint32_t abi, const Policy& policy);

// Returns the things that `abi` cannot restrict and a later ABI can: "TCP (ABI
// 4)".
std::vector<std::string> MissingFrom(uint32_t abi);

}  // namespace bulkhead::sandbox
