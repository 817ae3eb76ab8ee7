// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/include/bulkhead/status.h"
#include "core/supervisor/sandbox/policy.h"
#include "core/supervisor/sandbox/probe.h"

namespace bulkhead::sandbox {

// The operator's conditions on this machine, without which no backend may run.
// bulkheadd compares the requirements with what the probe found, once for each
// request that could start a backend:
//
//     RETURN_IF_ERROR(CheckRequirements(requirements, report));
//
// Plain values; the operator and the probe are trusted.
struct Requirements {
  Tier floor = Tier::kFull;
  // A cgroup limits the memory of each backend's processes together.
  bool memory_cgroup = false;
};

// Fails with kSandboxUnavailable if the machine offers less. The message says
// what is missing, why, and which setting requires it. In tier none no backend
// runs, whatever the floor is.
Status CheckRequirements(const Requirements& requirements,
                         const SandboxReport& report);

}  // namespace bulkhead::sandbox
