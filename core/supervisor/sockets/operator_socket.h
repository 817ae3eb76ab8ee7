// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async-unix.h>
#include <kj/async.h>
#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <memory>

#include "core/control/peer_user.h"
#include "core/include/bulkhead/status.h"
#include "core/supervisor/sockets/event_socket.h"
#include "ipc/unique_fd.h"

namespace bulkhead::sockets {

// The listening socket to which operators of this bulkheadd connect;
// core/control/operator_address.h describes its address.
//
// Admits peers with the uid of bulkheadd or of root (core/control/peer_user.h),
// at most kMaxPeers at a time, and closes every other connection. `Server`
// decides which requests a peer may make. Sandboxed processes cannot connect,
// since they cannot make sockets. Bound to the event loop's thread.
class OperatorSocket {
 public:
  static constexpr size_t kMaxPeers = 16;
  // Serves one peer; resolves once the connection may be closed.
  using Server =
      std::function<kj::Promise<void>(std::shared_ptr<EventSocket> peer)>;

  // Makes the socket, whose address contains the application's pid.
  static Result<ipc::UniqueFd> Listen(pid_t application);

  OperatorSocket(kj::UnixEventPort& port, ipc::UniqueFd socket, Server server,
                 kj::TaskSet::ErrorHandler& errors);
  KJ_DISALLOW_COPY(OperatorSocket);

 private:
  // Accepts connections for ever.
  kj::Promise<void> Accept();
  // Has the Server serve the peer, or closes the connection.
  void Admit(ipc::UniqueFd peer);

  kj::UnixEventPort& port_;
  const ipc::UniqueFd socket_;
  kj::UnixEventPort::FdObserver observer_;
  const Server server_;
  const BelievedUsers users_ = BelievedUsers::OfThisProcess();
  size_t peers_ = 0;
  kj::TaskSet tasks_;
};

}  // namespace bulkhead::sockets
