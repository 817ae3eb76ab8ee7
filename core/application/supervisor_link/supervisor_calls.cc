// SPDX-License-Identifier: Apache-2.0
#include "core/application/supervisor_link/supervisor_calls.h"

#include <algorithm>
#include <utility>

#include "core/base/from_ipc.h"
#include "core/base/status_macros.h"
#include "ipc/deadline.h"
#include "ipc/message_socket.h"

namespace bulkhead::supervisor_link {
namespace {

using std::chrono::milliseconds;

// The time after which a thread that waits for an answer asks bulkheadd whether
// it still serves.
constexpr milliseconds kUnwatched{1'000};

// Does the same as Exchange(), and returns kBackendLost if bulkheadd hangs.
// Sets `answered` if bulkheadd replied, even with a failure.
Status WatchedExchange(const SupervisorConnections::Connection& connection,
                       const FillRequest& fill, std::span<const int> fds,
                       ipc::Deadline deadline, const TakeReply& take,
                       bool& answered) {
  const int socket = connection.socket.get();
  // The send does not block: a connection has one request at a time, so the
  // socket has room.
  RETURN_IF_ERROR(SendRequest(socket, fill, fds, deadline));
  for (;;) {
    const auto left = std::chrono::ceil<milliseconds>(deadline.remaining());
    auto received =
        ipc::ReceiveMessage(socket, ipc::kMaxDescriptors,
                            ipc::Deadline::After(std::min(kUnwatched, left))
                                .OrReadable(deadline.interrupt_fd()));
    if (received && *received) {
      answered = true;
      return ReadReply(**received, take);
    }
    if (received) {
      return Status(Code::kBackendLost, "the supervisor bulkheadd died");
    }
    if (received.error().code != ipc::Code::kDeadlineExceeded ||
        deadline.passed() || IsInterrupted(deadline.interrupt_fd())) {
      return FromIpc(std::move(received).error());
    }
    RETURN_IF_ERROR(connection.watch->Check(deadline.interrupt_fd()));
  }
}

}  // namespace

milliseconds SupervisorCalls::StartPatience() const {
  // backend_start counts four times:
  // - the wait until the installed files do not change any more;
  // - the start of the backend;
  // - if the session loads the backend anew: the wait for its turn, and the
  //   load.
  // worker_start counts for the worker that counts devices and for two clones.
  return 4 * deadlines_.backend_start + 3 * deadlines_.worker_start + kSlack;
}

milliseconds SupervisorCalls::ListPatience() const {
  // This is enough time to find out that bulkheadd hangs.
  return deadlines_.supervisor_start + 2 * kSlack;
}

void SupervisorCalls::Tell(const FillRequest& fill, milliseconds timeout) {
  (void)Call(fill, {}, timeout,
             [](ipc::schema::HostReply::Reader, ipc::ReceivedMessage&) {
               return Status();
             });
}

Status SupervisorCalls::Ask(const FillRequest& fill, milliseconds timeout,
                            const TakeReply& take, CancelSignal* cancel) {
  uint64_t generation = 0;
  Status status = Call(fill, {}, timeout, take, &generation, cancel);
  if (status.code() != Code::kBackendLost) return status;
  // If bulkheadd is alive, kBackendLost is its own answer, about a backend.
  if (connections_.Serves(generation)) return status;
  return Call(fill, {}, timeout, take, &generation, cancel);
}

Status SupervisorCalls::Call(const FillRequest& fill, std::span<const int> fds,
                             milliseconds timeout, const TakeReply& take,
                             uint64_t* generation, CancelSignal* cancel) {
  const CancelSignal::Watch watch(cancel);
  RETURN_IF_ERROR(watch.status());
  const int interrupt_fd = watch.fd();
  auto acquired = connections_.Acquire(timeout, interrupt_fd);
  if (!acquired) {
    return acquired.error().code() == Code::kDeadlineExceeded && cancel &&
                   cancel->Take()
               ? Cancelled()
               : std::move(acquired).error();
  }
  SupervisorConnections::Connection connection = *std::move(acquired);
  if (generation) *generation = connection.generation;
  bool answered = false;
  Status status = WatchedExchange(
      connection, fill, fds,
      ipc::Deadline::After(timeout).OrReadable(interrupt_fd), take, answered);
  if (status.code() == Code::kBackendLost && !answered) {
    status = connections_.Lost(connection.generation, std::move(status));
  } else if (status.code() != Code::kDeadlineExceeded) {
    // After kDeadlineExceeded the connection is closed instead: a late answer
    // would be taken for the answer to the next request.
    connections_.Return(std::move(connection));
  }
  connections_.DeliverEvents();
  // A raised cancel signal ends the wait with kDeadlineExceeded, too.
  const bool gave_up = status.code() == Code::kDeadlineExceeded && !answered;
  return gave_up && cancel && cancel->Take() ? Cancelled() : status;
}

}  // namespace bulkhead::supervisor_link
