// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/supervisor/sandbox/granted_paths.h"
#include "core/supervisor/sandbox/policy.h"

namespace bulkhead::sandbox {

// Landlock rulesets as data: all rights that the running kernel can handle,
// with reading allowed on what the policy makes visible, and use of the devices
// that it names. The zygote installs
// it; a session worker adds the same rights with no rule at all.
//
// In a new root it is a second wall; in tier "reduced" it is the only one
// around files. What it lacks before some ABI is in MissingFrom.

struct LandlockRule {
  std::string path;
  uint64_t access;
  // The rule is for this object alone; without it links are followed.
  std::optional<ObjectIdentity> granted;
};

struct LandlockPlan {
  uint32_t abi = 0;  // 0: this kernel has none, and nothing is handled
  uint64_t handled_fs = 0;
  uint64_t handled_net = 0;
  uint64_t scoped = 0;
  std::vector<LandlockRule> rules;
};

// Of the running kernel; 0 where it has none or it is switched off.
uint32_t LandlockAbi();

LandlockPlan PlanLandlock(uint32_t abi, const Policy& policy);

// What this ABI cannot restrict and a later one can: "TCP (ABI 4)".
std::vector<std::string> MissingFrom(uint32_t abi);

}  // namespace bulkhead::sandbox
