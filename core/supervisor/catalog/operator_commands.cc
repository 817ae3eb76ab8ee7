// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/catalog/operator_commands.h"

#include <utility>

namespace bulkhead::catalog {

kj::Promise<Status> OperatorCommands::Execute(const std::string& name,
                                              Action action) {
  return catalog_.AskPlaces().then([this, name, action] {
    catalog_.RefreshAll();
    return ExecuteNow(name, action);
  });
}

kj::Promise<Status> OperatorCommands::ExecuteNow(const std::string& name,
                                                 Action action) {
  auto named = catalog_.Named(name);
  // The record is lifted even if this application does not find the backend:
  // another application may have quarantined it.
  const bool lifted =
      action == Action::RESTART && context_.quarantine.LiftNamed(name);
  if (!named) return lifted ? Status() : named.error();
  const BackendPointer& backend = *named;
  switch (action) {
    case Action::RESTART:
      return backend->external_events().Restart().then(
          [lifted](Status restarted) { return lifted ? Status() : restarted; });
    case Action::RELOAD:
      return Reload(backend);
    case Action::DISABLE:
      return Disable(*backend);
    case Action::ENABLE:
      return Enable(*backend);
  }
  return Status(Code::kUnsupported, "bulkheadd does not know this command");
}

kj::Promise<Status> OperatorCommands::Disable(backend::Backend& backend) {
  const Status kept = context_.disabled.Add(backend.candidate().name());
  return backend.external_events().Disable().then([kept](Status disabled) {
    if (!disabled.ok() || kept.ok()) return disabled;
    return Status(kept.code(),
                  "it is disabled in this application only, and only until "
                  "its bulkheadd ends: " +
                      kept.message());
  });
}

kj::Promise<Status> OperatorCommands::Enable(backend::Backend& backend) {
  const Status lifted = context_.disabled.Remove(backend.candidate().name());
  return backend.external_events().Enable().then(
      [lifted](Status enabled) { return enabled.ok() ? lifted : enabled; });
}

kj::Promise<Status> OperatorCommands::Reload(BackendPointer backend) {
  return backend->external_events()
      .Reload()
      .then([this](Status reloaded) -> kj::Promise<Status> {
        if (!reloaded.ok()) return reloaded;
        // If the reload joined a start that was under way, the files may have
        // changed since it loaded them.
        return catalog_.AskPlaces().then([this] {
          catalog_.Refresh();
          return Status();
        });
      })
      .attach(BackendPointer(backend));
}

}  // namespace bulkhead::catalog
