// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/backend/shared_worker.h"

#include <capnp/message.h>

#include <chrono>

#include "core/base/from_ipc.h"
#include "ipc/deadline.h"
#include "ipc/message_socket.h"
#include "ipc/schema/control.capnp.h"

namespace bulkhead::backend {

Status SharedWorker::Send(const ServingWorker& worker,
                          const ipc::UniqueFd& socket) {
  capnp::MallocMessageBuilder message;
  message.initRoot<ipc::schema::SharedWorkerRequest>().setServe();
  const int descriptors[] = {socket.get()};
  const auto sent =
      ipc::SendMessage(worker.requests.get(), message, descriptors,
                       ipc::Deadline::After(std::chrono::milliseconds(0)));
  if (sent) return Status();
  if (sent.error().code == ipc::Code::kResourceExhausted) {
    return FromIpc(sent.error());
  }
  return Status(
      Code::kBackendLost,
      "the worker that serves the backend's sessions takes no other: " +
          sent.error().message);
}

kj::Promise<SharedWorker::Outcome> SharedWorker::Ensure(
    std::shared_ptr<Incarnation> incarnation) {
  if (HasRoom(incarnation) && incarnation->WorkerRuns(worker_->process.pid)) {
    return Outcome(worker_);
  }
  if (!is_cloning_) {
    is_cloning_ = true;
    cloning_ = Replace(incarnation)
                   .then([this](Status status) {
                     is_cloning_ = false;
                     return status;
                   })
                   .fork();
  }
  return KJ_ASSERT_NONNULL(cloning_).addBranch().then(
      [this, incarnation = std::move(incarnation)](
          Status status) -> kj::Promise<Outcome> {
        if (!status.ok()) return Outcome(std::move(status));
        // WorkerRuns() is not asked: if the new worker has died already, its
        // session finds out. Cloning again here could repeat for ever.
        if (HasRoom(incarnation)) return Outcome(worker_);
        return Ensure(incarnation);
      });
}

kj::Promise<Status> SharedWorker::Replace(
    std::shared_ptr<Incarnation> incarnation) {
  auto sockets = ipc::MakeSocketPair();
  if (!sockets) return FromIpc(std::move(sockets).error());
  return clone_(std::move(incarnation), std::move(sockets->second))
      .then([this, requests = std::move(sockets->first)](
                Outcome worker) mutable -> Status {
        if (!worker) return std::move(worker).error();
        (*worker)->requests = std::move(requests);
        worker_ = *std::move(worker);
        return Status();
      });
}

bool SharedWorker::HasRoom(
    const std::shared_ptr<Incarnation>& incarnation) const {
  return worker_ && worker_->incarnation == incarnation &&
         worker_->sessions_now < kMaxSessions;
}

}  // namespace bulkhead::backend
