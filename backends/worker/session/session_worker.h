// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "backends/sdk/bulkhead_backend.h"
#include "backends/worker/media/buffers.h"
#include "backends/worker/session/host_replies.h"
#include "backends/worker/session/served_bytes.h"
#include "backends/worker/session/stream.h"
#include "ipc/message_socket.h"
#include "ipc/ring.h"
#include "ipc/schema/session.capnp.h"
#include "ipc/shared_region.h"
#include "ipc/unique_fd.h"
#include "ipc/waiter.h"

namespace bulkhead::worker {

// Whether the host has closed its end of a session's socket.
bool HostIsGone(int socket);

// One session: takes the host's requests (ipc/schema/session.capnp) from their
// ring and has its stream serve them.
//
// Runs under the stage 2 lock-down, in a process of its own or, where the
// backend asks for it, on a thread of one that serves others too
// (shared_worker.h): it touches nothing global. One thread of ours; the backend
// may have more. The host is trusted, the media is hostile, and what happens to
// this process is the sandbox's business.
class SessionWorker {
 public:
  // Says hello on `socket`, waits for the session's memory and media, and maps
  // them.
  static ipc::Expected<std::unique_ptr<SessionWorker>> Attach(
      const bulkhead_backend& backend, int socket);

  // Serves until the host closes the socket. Returns the exit code of the
  // process: a host that is still there waits for the end of that.
  int Run();

 private:
  SessionWorker(const bulkhead_backend& backend, int socket,
                ipc::MappedRegion requests, ipc::MappedRegion replies,
                std::optional<ipc::MappedRegion> window,
                std::vector<ipc::UniqueFd> descriptors);

  ipc::Expected<void> Handle(ipc::schema::Request::Reader request);
  ipc::Expected<void> Open(ipc::schema::Open::Reader open);
  ipc::Expected<void> AttachPool();
  MediaBytes media();

  const bulkhead_backend& backend_;
  const int socket_;
  ipc::MappedRegion requests_;
  ipc::MappedRegion replies_;
  const std::vector<ipc::UniqueFd> descriptors_;
  ipc::RingReader reader_;
  ipc::RingWriter writer_;
  ipc::Waiter waiter_;

  HostReplies host_replies_;
  std::optional<ServedBytes> served_;  // none: the media has a descriptor
  BufferProvider buffers_;
  std::unique_ptr<Stream> stream_;  // null until it is opened
  bool starved_ = false;            // it waits for a slot, so for a request
};

}  // namespace bulkhead::worker
