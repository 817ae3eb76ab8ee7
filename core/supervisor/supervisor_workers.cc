// SPDX-License-Identifier: Apache-2.0
#include <capnp/message.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/base/pidfd.h"
#include "core/control/exit_messages.h"
#include "core/supervisor/own_files.h"
#include "core/supervisor/sockets/replies.h"
#include "core/supervisor/supervisor.h"
#include "ipc/unique_fd.h"

// The part of Supervisor that handles the workers of sessions in place of the
// application.
namespace bulkhead::supervisor {
namespace {

namespace schema = ipc::schema;
using std::chrono::milliseconds;

// The most poisoned positions that a session is told about.
constexpr size_t kMaxPoisoned = 32;

// Completes a failure that does not end the worker.
Status Explained(const Status& failure, const Backend::StartedSession& started,
                 const std::string& backend) {
  const Code code = failure.code();
  if (code == Code::kBackendLost || code == Code::kBackendMisbehaved ||
      code == Code::kDeadlineExceeded || failure.ok()) {
    return failure;
  }
  if (code == Code::kResourceExhausted && started.shared) {
    return failure.WithContext("the worker of device " + started.device +
                               ", which serves all streams of backend " +
                               backend + ", cannot serve another");
  }
  return failure.WithContext("the worker of device " + started.device +
                             " (backend " + backend + ") was refused");
}

}  // namespace

kj::Promise<void> Supervisor::Attach(EventSocket& connection,
                                     AskedSession asked,
                                     const Catalog::BackendPointer& backend,
                                     const Backend::StartedSession& started,
                                     std::shared_ptr<SessionSocket> socket) {
  const uint64_t id = started.id;
  const Status watched = socket->Watch(
      started.pidfd, [this, id, end = asked.end] { ends_.Tell(end, id); });
  if (!watched.ok()) {
    backend->CloseSession(id);
    // Other streams that were opened at the same time took the last ones.
    Fail(connection, CanOpen(1) ? watched : TooFewFilesForAStream());
    return kj::READY_NOW;
  }
  sockets_[id] = socket;
  return socket
      ->Attach(std::move(asked.memory), started.shared,
               context_->worker_deadline,
               [backend, id] { return backend->ConfirmSession(id); })
      .then([backend, started](Status attached) -> kj::Promise<Status> {
        if (attached.code() != Code::kResourceExhausted || !started.shared) {
          return attached;
        }
        // One of the streams may have all threads that the worker may have.
        return backend->MakeRoomFor(started.id)
            .then([attached = std::move(attached)](bool freed) mutable {
              return freed ? Status(Code::kBackendLost,
                                    "one of the streams of its worker had all "
                                    "threads, and the worker was ended")
                           : std::move(attached);
            });
      })
      .then([this, &connection, input = std::move(asked.input), end = asked.end,
             backend, started](const Status& attached) {
        AnswerStarted(connection, input, end, *backend, started, attached);
      })
      .attach(std::shared_ptr<SessionSocket>(socket),
              Catalog::BackendPointer(backend));
}

void Supervisor::AnswerStarted(EventSocket& connection,
                               const std::string& input, uint32_t end,
                               Backend& backend,
                               const Backend::StartedSession& started,
                               const Status& attached) {
  capnp::MallocMessageBuilder answer;
  auto reply = answer.initRoot<Reply>().initSessionStarted();
  const std::string& name = backend.candidate().name();
  reply.setSession(started.id);
  reply.setBackend(name);
  reply.setDevice(started.device);
  reply.setDeviceOrdinal(started.device_ordinal);
  reply.setTier(static_cast<schema::Tier>(context_->tier));
  reply.setShared(started.shared);
  reply.setWorkerPid(PidOf(started.pidfd));
  if (!attached.ok()) {
    const Status failure = Explained(attached, started, name);
    auto out = reply.initUnattached();
    out.setCode(static_cast<schema::ErrorCode>(failure.code()));
    out.setMessage(failure.message());
  }
  // Asked again, since others may have died while this session waited.
  const auto refused = backend.Refused(input);
  auto poisoned = reply.initPoisoned(std::min(refused.size(), kMaxPoisoned));
  for (size_t i = 0; i < poisoned.size(); ++i) Write(refused[i], poisoned[i]);
  // If nobody reads the answer, the connection closes.
  unread_[&connection] = {.session = started.id, .end = end};
  Send(connection, answer);
}

kj::Promise<void> Supervisor::AttachPool(EventSocket& connection,
                                         schema::AttachPool::Reader request,
                                         ipc::UniqueFd pool) {
  const auto found = sockets_.find(request.getSession());
  const auto before = sockets_.find(request.getKeptFor());
  if (!pool && before != sockets_.end()) pool = before->second->TakePool();
  if (found == sockets_.end() || !pool) {
    Fail(connection,
         found == sockets_.end()
             ? Status(Code::kBackendLost, "there is no such session")
             : Status(Code::kNotFound, "the pool was not kept"));
    return kj::READY_NOW;
  }
  return found->second
      ->AttachPool(request.getSlotCount(), request.getSlotBytes(),
                   std::move(pool), context_->worker_deadline)
      .then(
          [&connection](const Status& sent) { Acknowledge(connection, sent); })
      .attach(std::shared_ptr<SessionSocket>(found->second));
}

kj::Promise<void> Supervisor::AnswerEnd(EventSocket& connection,
                                        schema::EndWorker::Reader request) {
  const auto found = sockets_.find(request.getSession());
  const std::shared_ptr<SessionSocket> socket =
      found == sockets_.end() ? nullptr : found->second;
  if (socket && request.getHow() == schema::EndWorker::How::KILL) {
    socket->Kill();
  }
  if (request.getHow() == schema::EndWorker::How::CLOSE) {
    CloseSession(request.getSession());
  }
  const milliseconds patience(request.getPatienceMs());
  kj::Promise<bool> ended = false;
  const auto backend = catalog_->OfSession(request.getSession());
  if (socket && backend &&
      request.getHow() == schema::EndWorker::How::LACKING) {
    ended = backend->MakeRoomFor(request.getSession())
                .then([socket, patience](bool freed) -> kj::Promise<bool> {
                  if (!freed) return false;
                  return socket->AwaitEnd(patience);
                })
                .attach(Catalog::BackendPointer(backend));
  } else if (socket) {
    ended = request.getHow() == schema::EndWorker::How::AWAIT
                ? socket->AwaitEndUnderWay(patience)
                : socket->AwaitEnd(patience);
  }
  return ended
      .then([&connection](bool ended) {
        capnp::MallocMessageBuilder answer;
        answer.initRoot<Reply>().setEnded(ended);
        Send(connection, answer);
      })
      .attach(std::shared_ptr<SessionSocket>(socket));
}

void Supervisor::CloseSession(uint64_t session) {
  if (const auto backend = catalog_->OfSession(session)) {
    backend->CloseSession(session);
  }
  sockets_.erase(session);
}

}  // namespace bulkhead::supervisor
