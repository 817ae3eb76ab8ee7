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
// connections of the application; what they ask for is answered by
// ApplicationRequests, once the application has configured it.
//
// The application is trusted. It speaks first, with `configure`, over the
// socket that bulkheadd inherited, and opens further connections over that
// socket. Run() resolves once that socket is closed or the application's pidfd
// says that the application is dead. Then main returns, and the reapers, whose
// sockets close with bulkheadd, end everything else.
//
// One thread, one event loop. Nothing here waits for a backend. The thread
// blocks for some milliseconds while the sandbox is probed, while a backend is
// launched, and while files are read; ending an incarnation can block it for up
// to two seconds.
class Supervisor : private kj::TaskSet::ErrorHandler {
 public:
  // `application` is the inherited socket. `application_pid` is shown to
  // operators. `port` must outlive this object.
  Supervisor(kj::UnixEventPort& port, ipc::UniqueFd application,
             pid_t application_pid);

  // Resolves once the application is gone.
  kj::Promise<void> Run();

 private:
  // Serves one connection of the application, one request after the other.
  kj::Promise<void> Serve(std::shared_ptr<sockets::EventSocket> connection);
  kj::Promise<void> Answer(sockets::EventSocket& connection,
                           ipc::ReceivedMessage message);
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
  // Last member, and destroyed first: its tasks use the others.
  kj::TaskSet tasks_;
};

}  // namespace bulkhead::supervisor
