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

// Answers the requests that find or start backends; session_opening.h opens
// sessions on them. The application asks for one device, for the backends of
// one distribution, or, with HostOptions::eager, for all backends.
//
// Bound to the event loop's thread.
class DeviceRequests {
 public:
  // All are borrowed; `tasks` must be destroyed before this object.
  DeviceRequests(catalog::Catalog& catalog, OfferedSandbox& sandbox,
                 kj::TaskSet& tasks)
      : catalog_(catalog), sandbox_(sandbox), tasks_(tasks) {}

  // Returns the backend of `device` without starting it. Fails if there is
  // none, or if this machine's sandbox is weaker than the operator requires.
  Result<catalog::BackendPointer> Find(const std::string& device);
  // Starts the backend of `device`, and answers over `connection`.
  kj::Promise<void> Prepare(sockets::EventSocket& connection,
                            const std::string& device);
  // Adds the distribution at `path` to the catalog and starts its backends, or
  // only the one called `entry_point` if that is not empty. Answers over
  // `connection` with the devices.
  kj::Promise<void> Load(sockets::EventSocket& connection,
                         const std::string& path,
                         const std::string& entry_point);
  // Repeats the Load() requests that an earlier bulkheadd of the application
  // had served. Resolves once the catalog has their distributions. Then starts
  // all backends if HostOptions::eager is set.
  kj::Promise<void> LoadAgain(ipc::schema::Configuration::Reader configuration);

 private:
  // Starts `backends`, and answers with their devices or the first failure.
  kj::Promise<void> StartLoaded(sockets::EventSocket& connection,
                                std::vector<catalog::BackendPointer> backends);
  // Begins to start every usable backend of the catalog; awaits none.
  void StartAll();

  catalog::Catalog& catalog_;
  OfferedSandbox& sandbox_;
  kj::TaskSet& tasks_;
};

}  // namespace bulkhead::supervisor
