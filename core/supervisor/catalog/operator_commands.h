// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async.h>

#include <string>

#include "core/include/bulkhead/status.h"
#include "core/supervisor/backend/start_context.h"
#include "core/supervisor/catalog/catalog.h"
#include "ipc/schema/control.capnp.h"

namespace bulkhead::catalog {

// Executes the commands of operators for one backend: restart, reload, disable
// and enable (core/supervisor/README.md). Updates the record of disabled
// backends, and lifts quarantines. Bound to the event loop's thread.
class OperatorCommands {
 public:
  using Action = ipc::schema::BackendCommand::Action;

  // Both must outlive this object.
  OperatorCommands(Catalog& catalog, const backend::StartContext& context)
      : catalog_(catalog), context_(context) {}

  // Executes the command on the backend called `name`, after a search of the
  // plugin path. Resolves with the outcome; a command that starts the backend
  // waits for the start.
  kj::Promise<Status> Execute(const std::string& name, Action action);

 private:
  // Does the same without a search.
  kj::Promise<Status> ExecuteNow(const std::string& name, Action action);
  kj::Promise<Status> Reload(BackendPointer backend);
  // Disable or enable the backend. A record keeps it disabled in later
  // bulkheadds too (DisabledBackends).
  kj::Promise<Status> Disable(backend::Backend& backend);
  kj::Promise<Status> Enable(backend::Backend& backend);

  Catalog& catalog_;
  const backend::StartContext& context_;
};

}  // namespace bulkhead::catalog
