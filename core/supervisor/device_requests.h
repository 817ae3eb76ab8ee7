// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async.h>

#include <string>
#include <vector>

#include "core/include/bulkhead/status.h"
#include "core/supervisor/catalog/catalog.h"
#include "core/supervisor/offered_sandbox.h"
#include "core/supervisor/sockets/event_socket.h"
#include "ipc/schema/control.capnp.h"

namespace bulkhead::supervisor {

// Finds the backends of devices for the application, and starts those that it
// asks for by a device, by a distribution, or all of them. No session is
// opened here (session_opening.h).
//
// Bound to the event loop's thread.
class DeviceRequests {
 public:
  // All are borrowed; `tasks` must be destroyed before this object.
  DeviceRequests(catalog::Catalog& catalog, OfferedSandbox& sandbox,
                 kj::TaskSet& tasks)
      : catalog_(catalog), sandbox_(sandbox), tasks_(tasks) {}

  // Returns the backend of `device`, to start it. Fails if the sandbox offers
  // less than is required.
  Result<catalog::BackendPointer> Find(const std::string& device);
  kj::Promise<void> Prepare(sockets::EventSocket& connection,
                            const std::string& device);
  kj::Promise<void> Load(sockets::EventSocket& connection,
                         const std::string& path,
                         const std::string& entry_point);
  // Loads again what an earlier bulkheadd had loaded for the application.
  // Resolves once it is known.
  kj::Promise<void> LoadAgain(ipc::schema::Configuration::Reader configuration);

 private:
  kj::Promise<void> StartLoaded(sockets::EventSocket& connection,
                                std::vector<catalog::BackendPointer> backends);
  void StartAll();

  catalog::Catalog& catalog_;
  OfferedSandbox& sandbox_;
  kj::TaskSet& tasks_;
};

}  // namespace bulkhead::supervisor
