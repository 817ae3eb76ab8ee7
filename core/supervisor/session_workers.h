// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async.h>

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "core/include/bulkhead/status.h"
#include "core/supervisor/backend/start_services.h"
#include "core/supervisor/catalog/catalog.h"
#include "core/supervisor/sockets/event_socket.h"
#include "core/supervisor/sockets/host_ends.h"
#include "core/supervisor/sockets/session_socket.h"
#include "ipc/schema/control.capnp.h"
#include "ipc/unique_fd.h"

namespace bulkhead::supervisor {

// Handles the workers of open sessions on behalf of the application: passes
// frame pools to them, ends them, and reports when a worker has ended and whose
// fault that was. Owns the sockets of all sessions that have a worker.
//
// Bound to the event loop's thread.
class SessionWorkers {
 public:
  // Both must outlive this object.
  SessionWorkers(backend::StartServices& services, catalog::Catalog& catalog)
      : services_(services), catalog_(catalog) {}
  KJ_DISALLOW_COPY(SessionWorkers);

  // Maps two memfds of the application: its session counters, and SessionEnds
  // (core/control/session_ends.h), in which bulkheadd reports ended workers.
  Status ShareCounters(const std::vector<ipc::UniqueFd>& memory);

  // Reserves index `end` of SessionEnds for a session that is about to be
  // opened.
  void Open(uint32_t end, uint64_t session) { ends_.Open(end, session); }
  // Keeps the session's `socket`. Once the worker of `pidfd` has ended, reports
  // this at index `end` of SessionEnds.
  Status Watch(uint64_t session, uint32_t end, int pidfd,
               std::shared_ptr<sockets::SessionSocket> socket);
  // Notes that the answer which is now sent over `connection` says that
  // `session` was opened. It is not known yet whether the application reads it.
  void NoteAnswer(const sockets::EventSocket& connection, uint64_t session,
                  uint32_t end) {
    unread_[&connection] = {.session = session, .end = end};
  }
  // Call it for each request that the connection brings, and with `closed` when
  // the connection ends. A request shows that the application has read the
  // noted answer. If the connection ends without a further request, closes the
  // session, since the application may not know of it.
  void HearFrom(const sockets::EventSocket& connection, bool closed);

  // These three answer the requests attachPool, endWorker and sessionExit over
  // `connection`.
  //
  // In bulkheadd, a session is the service of one worker to a stream. If the
  // worker dies, the stream goes on in a new session, whose worker needs the
  // same frame pool. The application then sends an empty `pool` and names the
  // earlier session in `request.keptFor`; AttachPool() takes the pool that the
  // earlier session's socket has kept.
  kj::Promise<void> AttachPool(sockets::EventSocket& connection,
                               ipc::schema::AttachPool::Reader request,
                               ipc::UniqueFd pool);
  kj::Promise<void> AnswerEnd(sockets::EventSocket& connection,
                              ipc::schema::EndWorker::Reader request);
  kj::Promise<void> AnswerExit(sockets::EventSocket& connection,
                               ipc::schema::SessionEnd::Reader seen);
  // Closes the session: its backend no longer serves it, and its socket closes.
  void Close(uint64_t session);

 private:
  struct UnreadAnswer {
    uint64_t session;
    uint32_t end;  // the session's index in SessionEnds
  };

  // Returns null if the session has no worker.
  std::shared_ptr<sockets::SessionSocket> SocketOf(uint64_t session) const;

  backend::StartServices& services_;
  catalog::Catalog& catalog_;
  sockets::HostEnds ends_;
  std::map<uint64_t, std::shared_ptr<sockets::SessionSocket>> sockets_;
  // The answers noted by NoteAnswer(), by the connection that carries them.
  std::map<const sockets::EventSocket*, UnreadAnswer> unread_;
};

}  // namespace bulkhead::supervisor
