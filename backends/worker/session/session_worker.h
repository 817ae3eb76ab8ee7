// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "backends/sdk/bulkhead_backend.h"
#include "backends/worker/media/decode/buffer_provider.h"
#include "backends/worker/session/host_replies.h"
#include "backends/worker/session/served_bytes.h"
#include "backends/worker/session/stream.h"
#include "ipc/message_socket.h"
#include "ipc/region_header.h"
#include "ipc/ring.h"
#include "ipc/schema/session.capnp.h"
#include "ipc/shared_region.h"
#include "ipc/unique_fd.h"
#include "ipc/waiter.h"

namespace bulkhead::worker::session {

// Serves one session: takes the host's requests (ipc/schema/session.capnp) from
// the request ring, and passes them to the stream.
//
// Runs under the stage 2 lock-down, in a process of its own. If the backend has
// worker_scope = "backend", the session runs on one thread of a process that
// serves several sessions (shared_worker.h); it therefore uses no global state.
// Bulkhead runs one thread for each session, and a second one if pictures are
// converted while the next is decoded (picture_publisher.h). The backend may
// start more threads. The host is trusted. The media is hostile and may take
// over this process; the sandbox and the host's validation of every reply
// contain the damage.
class SessionWorker {
 public:
  // Sends `hello` on `socket`, waits until the host sends the session's memory
  // and media, and maps the memory. Borrows `socket`, which must outlive the
  // session. One thread must call Attach(), Run() and the destructor, since the
  // host watches for the end of the thread that serves the session
  // (ipc/robust_word.h).
  static ipc::Expected<std::unique_ptr<SessionWorker>> Attach(
      const bulkhead_backend& backend, int socket);

  // Serves requests until the host closes the session or the session cannot go
  // on. Returns the exit code for the process. The caller must end the process
  // if closed() is false then, since the host waits for the end of the process.
  int Run();
  // Returns whether the host has closed the session.
  bool closed() const { return host_->closed.load() != 0; }

 private:
  SessionWorker(const bulkhead_backend& backend, int socket,
                ipc::MappedRegion requests, ipc::MappedRegion replies,
                std::optional<ipc::MappedRegion> window,
                std::vector<ipc::UniqueFd> descriptors);

  // Sends the host a CrashNote: the device is lost, or the backend failed.
  // Returns the exit code for this failure.
  int ReportBackendFailure(const ipc::Error& failure);
  ipc::Expected<void> Handle(ipc::schema::Request::Reader request);
  ipc::Expected<void> Open(ipc::schema::Open::Reader open);
  ipc::Expected<void> AttachPool();
  demux::MediaBytes media();

  const bulkhead_backend& backend_;
  const int socket_;
  ipc::MappedRegion requests_;
  ipc::MappedRegion replies_;
  std::vector<ipc::UniqueFd> descriptors_;  // the media; an eventfd if any
  ipc::RegionHeader* const own_;            // in replies_
  const ipc::RegionHeader* const host_;     // in requests_
  ipc::RingReader reader_;
  ipc::RingWriter writer_;
  ipc::Waiter waiter_;

  HostReplies host_replies_;
  std::optional<ServedBytes> served_;  // set if the media has no descriptor
  decode::BufferProvider buffers_;
  std::unique_ptr<Stream> stream_;  // null until the host has opened a stream
  // True if the stream needs another slot, so that it cannot advance before the
  // next request, which may be a grant.
  bool starved_ = false;
};

}  // namespace bulkhead::worker::session
