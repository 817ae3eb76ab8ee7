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

// Compiles a policy to the restrictions that a backend's processes install upon
// themselves: the seccomp programs of the reaper, of stage 1 (the zygote) and
// of stage 2 (a session's worker), and the Landlock plan (landlock.h). Adds the
// path and the entry symbol of the vendor's shared object. Returns a memfd with
// one schema::Lockdown message in the format of capnp::messageToFlatArray. The
// backend's processes install these data and know no policy.
//
// The memfd is sealed, so a backend cannot change it, and the same descriptor
// serves every start of the backend. `forbidden` is the reaction to a
// forbidden call that this machine supports (SandboxReport::forbidden). With
// kNotify, the zygote's first message to bulkheadd carries the listener of its
// filter (zygote_link.h); bulkheadd must keep it open while the backend lives.
Result<ipc::UniqueFd> CompileLockdown(const Policy& policy,
                                      const Plugin& plugin,
                                      Forbidden forbidden);

// Returns the part of CompileLockdown()'s lock-down that a session's worker
// installs as stage 2. bulkheadd compares with it the filters that a worker
// asks to install (ExpectedCalls).
ExpectedCalls::SessionLockdown SessionLockdownOf(const Policy& policy,
                                                 Forbidden forbidden);

}  // namespace bulkhead::sandbox
