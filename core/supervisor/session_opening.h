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
#include "core/supervisor/backend/start_context.h"
#include "core/supervisor/catalog/catalog.h"
#include "core/supervisor/device_requests.h"
#include "core/supervisor/session_workers.h"
#include "core/supervisor/sockets/event_socket.h"
#include "core/supervisor/sockets/session_socket.h"
#include "ipc/schema/control.capnp.h"
#include "ipc/unique_fd.h"

namespace bulkhead::supervisor {

// Opens the sessions of the application in three steps:
// 1. refuses a request that can be refused without a worker, such as for an
//    input that killed too many workers;
// 2. has a backend place the session in a worker;
// 3. sends the worker the session's memory.
// Then SessionWorkers takes care of the worker.
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

  // Opens a session and answers over `connection`. `memory` has the request's
  // descriptors: the session's shared memory, and last its media.
  kj::Promise<void> Open(sockets::EventSocket& connection,
                         ipc::schema::OpenSession::Reader request,
                         std::vector<ipc::UniqueFd> memory);

 private:
  // The parts of an openSession request that step 3 needs.
  struct Asked {
    std::string input;
    uint32_t end;  // the index in SessionEnds at which the end is reported
    sockets::SessionSocket::Memory memory;
  };
  // Returns the backend of the requested device. Exception: a session that
  // continues an earlier one stays on the earlier one's backend, if that was
  // replaced by a new version but still clones workers.
  Result<catalog::BackendPointer> FindBackend(
      ipc::schema::OpenSession::Reader request);
  // Answers and returns true in two cases: a session on `backend` is refused,
  // or the application must first ask another device for the input's codec
  // (describeFirst in control.capnp). Otherwise returns false. Costs no worker.
  bool AnswersWithoutWorker(sockets::EventSocket& connection,
                            ipc::schema::OpenSession::Reader request,
                            backend::Backend& backend);
  // Makes the worker attach the session's memory, and answers.
  kj::Promise<void> Attach(
      sockets::EventSocket& connection, Asked asked,
      const catalog::BackendPointer& backend,
      const backend::Backend::StartedSession& started,
      const std::shared_ptr<sockets::SessionSocket>& socket);
  // Answers sessionStarted. If `attached` is a failure, the answer contains it.
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
