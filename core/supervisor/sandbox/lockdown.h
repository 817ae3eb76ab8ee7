// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/include/bulkhead/status.h"
#include "core/supervisor/sandbox/bpf.h"
#include "core/supervisor/sandbox/policy.h"
#include "ipc/unique_fd.h"

namespace bulkhead::sandbox {

// Writes everything that a backend installs upon itself (three seccomp
// programs, the Landlock plan, where its object lies) into a sealed memfd as
// one schema::Lockdown message, framed as capnp::messageToFlatArray does. The
// backend's side reads it without knowing any policy; it cannot be changed any
// more, so one descriptor serves every start of the same backend. `forbidden`
// is what this machine can do (SandboxReport): with kNotify somebody has to
// hold the listener that the zygote sends.
Result<ipc::UniqueFd> CompileLockdown(const Policy& policy,
                                      const Plugin& plugin,
                                      Forbidden forbidden);

}  // namespace bulkhead::sandbox
