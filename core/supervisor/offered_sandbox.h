// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "core/include/bulkhead/status.h"
#include "core/supervisor/backend/backend_launch.h"
#include "core/supervisor/sandbox/probe.h"
#include "core/supervisor/sandbox/requirements.h"
#include "ipc/schema/control.capnp.h"

namespace bulkhead::supervisor {

// The sandbox that this machine offers. Owns what the probe found and what the
// operator requires, and says whether a backend may be started.
//
// The probe makes namespaces and takes time, so it waits for the first request
// that needs its result. Bound to the event loop's thread, which the probe
// blocks.
class OfferedSandbox {
 public:
  // `context` must outlive this object, which writes the result of the probe
  // into it. `cgroup` is the configured directory, or empty.
  OfferedSandbox(backend::StartContext& context,
                 sandbox::Requirements requirements, std::string cgroup);

  // Probes the sandbox unless that was done; fails if it offers less than is
  // required.
  Status Ensure();
  // Fails with kResourceExhausted if bulkheadd cannot open as many files as the
  // start of a backend, or its search, needs.
  Status CheckSpareFiles() const;
  // Call it after Ensure().
  void Describe(ipc::schema::SandboxReport::Builder out) const;

 private:
  backend::StartContext& context_;
  const sandbox::Requirements requirements_;
  const std::string cgroup_;
  std::optional<sandbox::SandboxReport> report_;  // empty before the probe
};

}  // namespace bulkhead::supervisor
