// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/include/bulkhead/status.h"
#include "core/supervisor/sandbox/policy.h"
#include "core/supervisor/sandbox/probe.h"

namespace bulkhead::sandbox {

// The operator's requirements on the sandbox; on a machine that does not meet
// them, no backend may run. At each request that could start a backend,
// bulkheadd compares them with the result of the probe:
//
//     RETURN_IF_ERROR(CheckRequirements(requirements, report));
//
// Plain values; the operator and the probe are trusted.
struct Requirements {
  Tier floor = Tier::kFull;  // The lowest tier in which backends may run.
  // True to require that a cgroup limits the memory of each backend.
  bool memory_cgroup = false;
};

// Fails with kSandboxUnavailable if the machine does not meet the requirements.
// The message says what is missing, why, and which setting requires it. In tier
// none it always fails, whatever the floor is.
Status CheckRequirements(const Requirements& requirements,
                         const SandboxReport& report);

}  // namespace bulkhead::sandbox
