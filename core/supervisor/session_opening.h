// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async-unix.h>
#include <kj/async.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/include/bulkhead/status.h"
#include "core/supervisor/backend/backend.h"
#include "core/supervisor/backend/backend_launch.h"
#include "core/supervisor/catalog/catalog.h"
#include "core/supervisor/device_requests.h"
#include "core/supervisor/session_workers.h"
#include "core/supervisor/sockets/event_socket.h"
#include "core/supervisor/sockets/session_socket.h"
#include "ipc/schema/control.capnp.h"
#include "ipc/unique_fd.h"

namespace bulkhead::supervisor {

// Opens the sessions of the application: refuses at once what it can refuse
// without a worker, has a backend place the session in a worker, and hands the
// worker the session's memory. From then on, SessionWorkers handles the worker.
//
// Bound to the event loop's thread.
class SessionOpening {
 public:
  // All must outlive this object.
  SessionOpening(const backend::StartContext& context,
                 catalog::Catalog& catalog, DeviceRequests& devices,
                 SessionWorkers& workers)
      : context_(context),
        catalog_(catalog),
        devices_(devices),
        workers_(workers) {}

  kj::Promise<void> Open(sockets::EventSocket& connection,
                         ipc::schema::OpenSession::Reader request,
                         std::vector<ipc::UniqueFd> memory);

 private:
  // The part of an openSession request that is needed once the worker is there.
  struct Asked {
    std::string input;
    uint32_t end;  // the place at which the worker's end is reported
    sockets::SessionSocket::Memory memory;
  };
  Result<catalog::BackendPointer> FindBackend(
      ipc::schema::OpenSession::Reader request);
  // Has the worker attach the session's memory, and answers.
  kj::Promise<void> Attach(
      sockets::EventSocket& connection, Asked asked,
      const catalog::BackendPointer& backend,
      const backend::Backend::StartedSession& started,
      const std::shared_ptr<sockets::SessionSocket>& socket);
  void AnswerStarted(sockets::EventSocket& connection, const std::string& input,
                     uint32_t end, backend::Backend& backend,
                     const backend::Backend::StartedSession& started,
                     const Status& attached);

  const backend::StartContext& context_;
  catalog::Catalog& catalog_;
  DeviceRequests& devices_;
  SessionWorkers& workers_;
  uint64_t next_session_ = 1;
};

}  // namespace bulkhead::supervisor
