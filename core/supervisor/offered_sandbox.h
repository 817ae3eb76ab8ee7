// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "core/include/bulkhead/status.h"
#include "core/supervisor/backend/start_context.h"
#include "core/supervisor/sandbox/probe.h"
#include "core/supervisor/sandbox/requirements.h"
#include "ipc/schema/control.capnp.h"

namespace bulkhead::supervisor {

// The sandbox that this machine offers. Owns the operator's requirements and
// the result of the probe (probe.h), which makes a trial sandbox. Says whether
// a backend may be started.
//
// The probe takes some milliseconds, so it runs at the first request that needs
// its result. Bound to the event loop's thread, which the probe blocks.
class OfferedSandbox {
 public:
  // Ensure() writes the result of the probe into `context`, which must outlive
  // this object. `cgroup` is the configured cgroup directory, or empty.
  OfferedSandbox(backend::StartContext& context,
                 sandbox::Requirements requirements, std::string cgroup);

  // Probes the sandbox at the first call, and again after a probe for which
  // resources were short. Fails if the sandbox is weaker than the operator
  // requires, or if the probe still lacks resources.
  Status Ensure();
  // Fails with kResourceExhausted if bulkheadd has too few free descriptors to
  // find and start a backend.
  Status CheckSpareFiles() const;
  // Writes the result of the probe into `out`. Call Ensure() first.
  void Describe(ipc::schema::SandboxReport::Builder out) const;

 private:
  backend::StartContext& context_;
  const sandbox::Requirements requirements_;
  const std::string cgroup_;
  std::optional<sandbox::SandboxReport> report_;  // empty before the probe
};

}  // namespace bulkhead::supervisor
