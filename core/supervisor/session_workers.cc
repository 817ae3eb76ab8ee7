// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/session_workers.h"

#include <capnp/message.h>

#include <chrono>
#include <utility>

#include "core/base/from_ipc.h"
#include "core/base/status_macros.h"
#include "core/control/crash_note.h"
#include "core/control/exit_messages.h"
#include "core/control/session_counters.h"
#include "core/control/session_ends.h"
#include "core/supervisor/sockets/replies.h"
#include "ipc/shared_region.h"

namespace bulkhead::supervisor {
namespace {

namespace schema = ipc::schema;
using std::chrono::milliseconds;

// The longest time for which the application waits for the reason why its
// worker ended.
constexpr milliseconds kExitPatience{2'000};

// Translates the application's account of the end of a worker. `stopped` says
// whether the worker was in a stopped state when it was killed.
backend::Backend::ReportedExit ToReportedExit(schema::SessionEnd::Reader end,
                                              bool stopped) {
  using Seen = schema::SessionEnd::Seen;
  blame::HostObservation observed = blame::HostObservation::kDied;
  if (end.getSeen() == Seen::LATE) {
    observed = stopped ? blame::HostObservation::kFoundStopped
                       : blame::HostObservation::kMissedDeadline;
  }
  if (end.getSeen() == Seen::LIED)
    observed = blame::HostObservation::kBrokeProtocol;
  return {.id = end.getSession(),
          .observed = observed,
          .met_media = end.getMetMedia(),
          .position = ToPosition(end.getPosition()),
          .facts = records::ToSessionFacts(end)};
}

}  // namespace

Status SessionWorkers::ShareCounters(const std::vector<ipc::UniqueFd>& memory) {
  if (memory.size() != 2) {
    return Status(Code::kInternal, "counters without their memory");
  }
  ASSIGN_OR_RETURN(auto region,
                   FromIpc(ipc::MappedRegion::Map(
                       memory[0].get(), /*writable=*/false,
                       kMaxCountedSessions * sizeof(SessionCounter))));
  ASSIGN_OR_RETURN(
      auto ends, FromIpc(ipc::MappedRegion::Map(
                     memory[1].get(), /*writable=*/true, sizeof(SessionEnds))));
  services_.counters().Set(std::move(region));
  if (!ends_.Set(std::move(ends))) {
    return Status(Code::kUnsupported,
                  "this kernel does not report the end of a thread "
                  "(set_robust_list, CONFIG_FUTEX)");
  }
  return Status();
}

std::shared_ptr<sockets::SessionSocket> SessionWorkers::SocketOf(
    uint64_t session) const {
  const auto found = sockets_.find(session);
  return found == sockets_.end() ? nullptr : found->second;
}

Status SessionWorkers::Watch(uint64_t session, uint32_t end, int pidfd,
                             std::shared_ptr<sockets::SessionSocket> socket) {
  const Status watched = socket->Watch(
      pidfd, [this, session, end] { ends_.Report(end, session); });
  if (watched.ok()) sockets_[session] = std::move(socket);
  return watched;
}

void SessionWorkers::HearFrom(const sockets::EventSocket& connection,
                              bool closed) {
  auto unread = unread_.extract(&connection);
  if (!unread || !closed) return;
  // The application may have read the answer nevertheless, for instance if its
  // next request was malformed. So the end of the worker is reported as well.
  Close(unread.mapped().session);
  ends_.Report(unread.mapped().end, unread.mapped().session);
}

kj::Promise<void> SessionWorkers::AttachPool(sockets::EventSocket& connection,
                                             schema::AttachPool::Reader request,
                                             ipc::UniqueFd pool) {
  const auto socket = SocketOf(request.getSession());
  const auto earlier = SocketOf(request.getKeptFor());
  if (!pool && earlier) pool = earlier->TakePool();
  if (!socket || !pool) {
    Fail(connection,
         socket ? Status(Code::kNotFound, "the pool was not kept")
                : Status(Code::kBackendLost, "there is no such session"));
    return kj::READY_NOW;
  }
  return socket
      ->AttachPool(request.getSlotCount(), request.getSlotBytes(),
                   std::move(pool), services_.context().worker_deadline)
      .then([&connection](const Status& sent) {
        sockets::Acknowledge(connection, sent);
      })
      .attach(std::shared_ptr<sockets::SessionSocket>(socket));
}

kj::Promise<void> SessionWorkers::AnswerEnd(sockets::EventSocket& connection,
                                            schema::EndWorker::Reader request) {
  const auto socket = SocketOf(request.getSession());
  if (socket && request.getHow() == schema::EndWorker::How::KILL) {
    socket->Kill();
  }
  if (request.getHow() == schema::EndWorker::How::CLOSE) {
    Close(request.getSession());
  }
  const milliseconds patience(request.getPatienceMs());
  kj::Promise<bool> ended = false;
  const auto backend = catalog_.OfSession(request.getSession());
  if (socket && backend &&
      request.getHow() == schema::EndWorker::How::LACKING) {
    // The worker reports that something ran out. If tasks ran out, the workers
    // with more than their share are ended. This worker is ended too, and the
    // session gets another one.
    ended = backend->MakeRoomFor(request.getSession())
                .then([socket, patience](bool freed) -> kj::Promise<bool> {
                  if (!freed) return false;
                  return socket->AwaitEnd(patience);
                })
                .attach(catalog::BackendPointer(backend));
  } else if (socket) {
    ended = request.getHow() == schema::EndWorker::How::AWAIT
                ? socket->AwaitEndUnderWay(patience)
                : socket->AwaitEnd(patience);
  }
  return ended
      .then([&connection](bool ended) {
        capnp::MallocMessageBuilder answer;
        answer.initRoot<schema::HostReply>().setEnded(ended);
        Send(connection, answer);
      })
      .attach(std::shared_ptr<sockets::SessionSocket>(socket));
}

void SessionWorkers::Close(uint64_t session) {
  if (const auto backend = catalog_.OfSession(session)) {
    backend->CloseSession(session);
  }
  sockets_.erase(session);
}

kj::Promise<void> SessionWorkers::AnswerExit(sockets::EventSocket& connection,
                                             schema::SessionEnd::Reader seen) {
  const catalog::BackendPointer backend = catalog_.OfSession(seen.getSession());
  const auto socket = SocketOf(seen.getSession());
  backend::Backend::ReportedExit reported =
      ToReportedExit(seen, socket && socket->found_stopped());
  if (socket) reported.facts.claim = socket->TakeNote();
  auto verdict = backend ? backend->JudgeExit(reported, kExitPatience)
                         : kj::Promise<backend::Backend::JudgedExit>(
                               backend::Backend::JudgedExit());
  return verdict
      .then([&connection, claim = reported.facts.claim](
                const backend::Backend::JudgedExit& verdict) {
        capnp::MallocMessageBuilder answer;
        auto reply = answer.initRoot<schema::HostReply>().initExit();
        Write(claim, reply.initClaim());
        Write(verdict.report, reply.initReport());
        reply.setBlamed(verdict.culprit != blame::Culprit::kNobody);
        reply.setInputToBlame(verdict.culprit == blame::Culprit::kInput);
        reply.setDeviceToBlame(verdict.culprit == blame::Culprit::kDevice);
        reply.setDeathsHere(verdict.deaths_here);
        reply.setLackedTasks(verdict.lacked_tasks);
        Send(connection, answer);
      })
      .attach(catalog::BackendPointer(backend));
}

}  // namespace bulkhead::supervisor
