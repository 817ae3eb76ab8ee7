// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async.h>

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "core/include/bulkhead/status.h"
#include "core/supervisor/backend/backend.h"
#include "core/supervisor/catalog/catalog.h"
#include "core/supervisor/sockets/event_socket.h"
#include "core/supervisor/sockets/host_ends.h"
#include "core/supervisor/sockets/session_socket.h"
#include "core/supervisor/start_services.h"
#include "ipc/schema/control.capnp.h"
#include "ipc/unique_fd.h"

namespace bulkhead::supervisor {

// Handles the workers of open sessions in place of the application: shares
// their frame pools, ends them, says to the application when they have ended,
// and whose fault it was. Owns the sockets of all sessions that have a worker.
//
// Bound to the event loop's thread.
class SessionWorkers {
 public:
  // Both must outlive this object.
  SessionWorkers(StartServices& services, catalog::Catalog& catalog)
      : services_(services), catalog_(catalog) {}
  KJ_DISALLOW_COPY(SessionWorkers);

  // Takes the memory in which the application counts frames and learns of ends.
  Status ShareCounters(const std::vector<ipc::UniqueFd>& memory);

  // Gives the place `end` to a session that is about to be opened.
  void Open(uint32_t end, uint64_t session) { ends_.Open(end, session); }
  // Says at the place when the session's worker has ended.
  Status Watch(uint64_t session, uint32_t end, int pidfd,
               std::shared_ptr<sockets::SessionSocket> socket);
  // Notes that the session is the last answer on a connection.
  void NoteAnswer(const sockets::EventSocket& connection, uint64_t session,
                  uint32_t end) {
    unread_[&connection] = {.session = session, .end = end};
  }
  // Closes the session of that answer if the connection was closed instead of
  // used again.
  void HearFrom(const sockets::EventSocket& connection, bool closed);

  kj::Promise<void> AttachPool(sockets::EventSocket& connection,
                               ipc::schema::AttachPool::Reader request,
                               ipc::UniqueFd pool);
  kj::Promise<void> AnswerEnd(sockets::EventSocket& connection,
                              ipc::schema::EndWorker::Reader request);
  kj::Promise<void> AnswerExit(sockets::EventSocket& connection,
                               ipc::schema::SessionEnd::Reader seen);
  void Close(uint64_t session);

 private:
  struct UnreadAnswer {
    uint64_t session;
    uint32_t end;  // the place among ends_
  };

  std::shared_ptr<sockets::SessionSocket> SocketOf(uint64_t session) const;

  StartServices& services_;
  catalog::Catalog& catalog_;
  sockets::HostEnds ends_;
  // The sockets of all sessions that have a worker.
  std::map<uint64_t, std::shared_ptr<sockets::SessionSocket>> sockets_;
  // The session that was the last answer on a connection of the application.
  std::map<const sockets::EventSocket*, UnreadAnswer> unread_;
};

}  // namespace bulkhead::supervisor
