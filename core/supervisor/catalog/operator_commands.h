// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async.h>

#include <string>

#include "core/include/bulkhead/status.h"
#include "core/supervisor/backend/backend_launch.h"
#include "core/supervisor/catalog/catalog.h"
#include "ipc/schema/control.capnp.h"

namespace bulkhead::catalog {

// Executes what operators command for one backend: restart, reload, disable and
// enable (core/supervisor/README.md). Keeps the record of disabled backends,
// and lifts quarantines. Bound to the event loop's thread.
class OperatorCommands {
 public:
  using Action = ipc::schema::BackendCommand::Action;

  // Both must outlive this object.
  OperatorCommands(Catalog& catalog, const backend::StartContext& context)
      : catalog_(catalog), context_(context) {}

  // Resolves, for a command that waits for a start, once the start is over.
  kj::Promise<Status> Execute(const std::string& name, Action action);

 private:
  // Executes the command on what was found at the last look.
  kj::Promise<Status> ExecuteNow(const std::string& name, Action action);
  kj::Promise<Status> Reload(BackendPointer backend);
  // Disables or enables the backend, and keeps a record of that.
  kj::Promise<Status> Disable(backend::Backend& backend);
  kj::Promise<Status> Enable(backend::Backend& backend);

  Catalog& catalog_;
  const backend::StartContext& context_;
};

}  // namespace bulkhead::catalog
