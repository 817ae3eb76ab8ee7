// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <capnp/message.h>
#include <kj/async-unix.h>

#include <cstdint>
#include <optional>
#include <span>

#include "ipc/message_socket.h"
#include "ipc/unique_fd.h"

namespace bulkhead::supervisor {

// A control socket in bulkheadd's event loop. The peer may be hostile: what it
// sends is bounded by ipc/message_socket.h, and a peer that does not read its
// messages gets an error instead of our patience.
//
// Bound to the event loop's thread. One Receive at a time; dropping its promise
// cancels it.
class EventSocket {
 public:
  EventSocket(kj::UnixEventPort& port, ipc::UniqueFd socket);

  // The next message; nullopt once the peer has closed its end. A message that
  // breaks the framing is an error, and the socket should then be dropped.
  kj::Promise<ipc::Expected<std::optional<ipc::ReceivedMessage>>> Receive(
      size_t max_descriptors);
  // Sends at once or fails.
  ipc::Expected<void> Send(capnp::MessageBuilder& message,
                           std::span<const int> descriptors = {});
  // From now on it is closed, for us and for the peer.
  void Shutdown();

 private:
  kj::UnixEventPort& port_;
  const ipc::UniqueFd socket_;
  kj::UnixEventPort::FdObserver observer_;
  uint32_t ready_at_once_ = 0;  // messages since the loop last looked around
};

}  // namespace bulkhead::supervisor
