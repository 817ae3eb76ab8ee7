// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/session/shared_worker.h"

#include <unistd.h>

#include <chrono>
#include <functional>
#include <system_error>
#include <thread>
#include <utility>

#include "backends/worker/session/session_worker.h"
#include "ipc/message_socket.h"
#include "ipc/unique_fd.h"

namespace bulkhead::worker {
namespace {

// Only bounds a single wait: bulkheadd may be silent for any time, and if it is
// gone, the reaper ends this process.
constexpr std::chrono::milliseconds kIdleDeadline{3'600'000};
constexpr int kExitSession = 1;

void Serve(const bulkhead_backend& backend, ipc::UniqueFd socket) {
  auto session = SessionWorker::Attach(backend, socket.get());
  const int code = session ? (*session)->Run() : kExitSession;
  // A host that is still connected learns of the end of its session only from
  // the end of the process.
  if (!HostIsGone(socket.get())) ::_exit(code);
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
    try {
      std::thread(Serve, std::cref(backend),
                  std::move((*received)->descriptors[0]))
          .detach();
    } catch (const std::system_error&) {
      return kExitSession;
    }
  }
}

}  // namespace bulkhead::worker
