// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async-unix.h>
#include <kj/async.h>
#include <sys/types.h>

#include <memory>
#include <optional>
#include <vector>

#include "core/include/bulkhead/status.h"
#include "core/supervisor/application_requests.h"
#include "core/supervisor/sockets/event_socket.h"
#include "ipc/message_socket.h"
#include "ipc/schema/control.capnp.h"
#include "ipc/unique_fd.h"

namespace bulkhead::supervisor {

// The whole of bulkheadd: serves one application, and ends with it. Owns the
// application's connections. Once the application has sent its configuration,
// ApplicationRequests answers the requests that arrive over them.
//
// The application is trusted. Its first request is `configure`, over the socket
// that bulkheadd inherited. It opens further connections over the same socket.
// Run() resolves once that socket is closed or the application's pidfd shows
// that the application is dead. Then main() returns, which closes the sockets
// to the reapers. Each reaper then ends its backend.
//
// One thread, one event loop. The thread never waits for a backend. It blocks
// for some milliseconds while the sandbox is probed, while a backend is
// launched, and while files are read. At the end of bulkheadd it blocks for up
// to two seconds until the reapers have ended, and up to one for each cgroup
// (EndingReapers).
class Supervisor : private kj::TaskSet::ErrorHandler {
 public:
  // `application` is the inherited socket to the application. `application_pid`
  // is only shown to operators. `port` must outlive this object.
  Supervisor(kj::UnixEventPort& port, ipc::UniqueFd application,
             pid_t application_pid);

  // Resolves once the application is gone.
  kj::Promise<void> Run();

 private:
  // Serves one connection of the application, one request after the other.
  kj::Promise<void> Serve(std::shared_ptr<sockets::EventSocket> connection);
  // Answers `configure` and `connect`; passes other requests to `requests_`.
  kj::Promise<void> Answer(sockets::EventSocket& connection,
                           ipc::ReceivedMessage message);
  // Makes `requests_`, and watches the application's pidfd, the first of
  // `descriptors`. Fails for another protocol version or a second call.
  Status Configure(ipc::schema::Configuration::Reader configuration,
                   std::vector<ipc::UniqueFd> descriptors);
  void taskFailed(kj::Exception&& exception) override;

  kj::UnixEventPort& port_;
  const std::shared_ptr<sockets::EventSocket> root_;
  const Operators::Application application_;
  kj::Own<kj::PromiseFulfiller<void>> gone_;
  ipc::UniqueFd application_pidfd_;
  kj::Own<kj::UnixEventPort::FdObserver> application_observer_;
  std::optional<ApplicationRequests> requests_;  // empty before `configure`
  // Last member, so that it is destroyed first: its tasks use the others.
  kj::TaskSet tasks_;
};

}  // namespace bulkhead::supervisor
