// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linux/filter.h>

#include <cstdint>
#include <vector>

#include "core/include/bulkhead/status.h"
#include "core/supervisor/sandbox/bpf.h"
#include "core/supervisor/sandbox/expected_calls.h"
#include "core/supervisor/sandbox/policy.h"
#include "ipc/unique_fd.h"

namespace bulkhead::sandbox {

// Compiles everything that a backend's processes install upon themselves: three
// seccomp programs, the Landlock plan, and the path and symbol of the backend's
// object. Returns a memfd with one schema::Lockdown message, framed as
// capnp::messageToFlatArray does.
//
// The memfd is sealed, so that a backend cannot change it and one descriptor
// serves every start of the same backend. The worker program installs the data
// and knows no policy. `forbidden` is the reaction that this machine supports
// (SandboxReport::forbidden); with kNotify the caller has to hold the listener
// that the zygote sends.
Result<ipc::UniqueFd> CompileLockdown(const Policy& policy,
                                      const Plugin& plugin,
                                      Forbidden forbidden);

// Returns what a session's worker installs of that lock-down.
ExpectedCalls::SessionLockdown SessionLockdownOf(const Policy& policy,
                                                 Forbidden forbidden);

}  // namespace bulkhead::sandbox
