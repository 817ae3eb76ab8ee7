// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/session/shared_worker.h"

#include <capnp/message.h>
#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "backends/worker/session/session_worker.h"
#include "ipc/deadline.h"
#include "ipc/message_socket.h"
#include "ipc/protocol_version.h"
#include "ipc/schema/session.capnp.h"
#include "ipc/unique_fd.h"

namespace bulkhead::worker::session {
namespace {

// Only bounds a single wait: bulkheadd may be silent for any time, and if it is
// gone, the reaper ends this process.
constexpr std::chrono::milliseconds kIdleDeadline{3'600'000};
constexpr int kExitSession = 1;

bool IsClosedByPeer(int socket) {
  pollfd closed{.fd = socket, .events = POLLRDHUP, .revents = 0};
  return ::poll(&closed, 1, 0) > 0;
}

// Serves one session, on a thread of its own. Takes ownership of the socket.
void Serve(const bulkhead_backend& backend, int session_socket) {
  const ipc::UniqueFd socket(session_socket);
  auto session = SessionWorker::Attach(backend, socket.get());
  if (!session) {
    // A host that is still connected waits for the end of the process. A host
    // that has disconnected does not.
    if (!IsClosedByPeer(socket.get())) ::_exit(kExitSession);
    return;
  }
  const int code = (*session)->Run();
  if (!(*session)->closed()) ::_exit(code);
}

// Sends the `hello` of a session that gets no thread. Does not wait: the socket
// always has room for a first message.
void Refuse(int socket, const std::string& reason) {
  capnp::MallocMessageBuilder message;
  auto hello = message.initRoot<ipc::schema::Hello>();
  hello.setProtocolVersion(ipc::kProtocolVersion);
  hello.setExhausted(reason);
  (void)ipc::SendMessage(socket, message, {},
                         ipc::Deadline::After(std::chrono::milliseconds(0)));
}

}  // namespace

int RunSharedWorker(const bulkhead_backend& backend, int socket) {
  for (;;) {
    auto received =
        ipc::ReceiveMessage(socket, 1, ipc::Deadline::After(kIdleDeadline));
    if (!received) {
      if (received.error().code == ipc::Code::kDeadlineExceeded) continue;
      return kExitSession;
    }
    if (!*received) return 0;
    if ((*received)->descriptors.size() != 1) return kExitSession;
    ipc::UniqueFd session = std::move((*received)->descriptors[0]);
    try {
      std::thread(Serve, std::cref(backend), session.get()).detach();
      (void)session.release();  // the thread owns the socket now
    } catch (const std::system_error& error) {
      Refuse(session.get(), std::string("no thread can be started: ") +
                                error.code().message());
    }
  }
}

}  // namespace bulkhead::worker::session
