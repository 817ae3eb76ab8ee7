// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/supervisor/sandbox/granted_paths.h"
#include "core/supervisor/sandbox/policy.h"

namespace bulkhead::sandbox {

// Landlock rulesets as data. A plan forbids all actions that the running kernel
// can restrict (the handled rights). Its rules are the exceptions: reading the
// paths that the policy makes visible, and using the granted devices. The
// zygote installs the plan. A session worker adds a ruleset with the same
// handled rights and no rules, which forbids all these actions.
//
// In tier full Landlock is a second wall beside the new root. In tier reduced
// it is the only wall around files. MissingFrom() names the restrictions that
// an old ABI lacks.

struct LandlockRule {
  std::string path;
  uint64_t access;  // The permitted actions: LANDLOCK_ACCESS_FS_* bits.
  // The object that `path` must lead to; not set for the system's libraries.
  std::optional<ObjectIdentity> identity;
};

struct LandlockPlan {
  uint32_t abi = 0;  // 0: the kernel has no Landlock; the plan is empty.
  // The handled rights, as bits of landlock_ruleset_attr.
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

// Returns the actions that `abi` cannot restrict and a later ABI can, such as
// "TCP (ABI 4)".
std::vector<std::string> MissingFrom(uint32_t abi);

}  // namespace bulkhead::sandbox
