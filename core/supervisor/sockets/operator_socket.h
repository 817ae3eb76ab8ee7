// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async-unix.h>
#include <kj/async.h>
#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <memory>

#include "core/include/bulkhead/status.h"
#include "core/supervisor/sockets/event_socket.h"
#include "ipc/unique_fd.h"

namespace bulkhead::supervisor {

// Where operators of this bulkheadd's user find it; see
// core/operator_address.h.
//
// Admits peers whose uid is its own or root's, as the kernel names it, and at
// most kMaxPeers at a time; everybody else sees the connection closed. What a
// peer may ask for is its server's business. Sandboxed processes cannot get
// here: they may make no socket. Bound to the event loop's thread.
class OperatorSocket {
 public:
  static constexpr size_t kMaxPeers = 16;
  // Resolves once the peer is done or is not served any longer.
  using Server =
      std::function<kj::Promise<void>(std::shared_ptr<EventSocket> peer)>;

  static Result<ipc::UniqueFd> Listen(pid_t application);

  OperatorSocket(kj::UnixEventPort& port, ipc::UniqueFd socket, Server server,
                 kj::TaskSet::ErrorHandler& errors);
  KJ_DISALLOW_COPY(OperatorSocket);

 private:
  kj::Promise<void> Accept();
  void Admit(ipc::UniqueFd peer);

  kj::UnixEventPort& port_;
  const ipc::UniqueFd socket_;
  kj::UnixEventPort::FdObserver observer_;
  const Server server_;
  size_t peers_ = 0;
  kj::TaskSet tasks_;
};

}  // namespace bulkhead::supervisor
