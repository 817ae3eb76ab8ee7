// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <capnp/message.h>
#include <kj/async-unix.h>

#include <cstdint>
#include <optional>
#include <span>
#include <variant>

#include "ipc/message_socket.h"
#include "ipc/unique_fd.h"

namespace bulkhead::sockets {

// A control socket in bulkheadd's event loop. The peer may be hostile:
// ipc/message_socket.h bounds what it sends, and nothing waits for a peer that
// does not read its messages.
//
// Bound to the event loop's thread. Call Receive() once at a time; dropping its
// promise cancels it.
class EventSocket {
 public:
  EventSocket(kj::UnixEventPort& port, ipc::UniqueFd socket);

  // Resolves with the next message, or with nullopt once the peer has closed
  // its end. Fails on a message that breaks the framing; drop the socket then.
  kj::Promise<ipc::Expected<std::optional<ipc::ReceivedMessage>>> Receive(
      size_t max_descriptors);
  // Returns a message that has arrived, without waiting. Not while Receive()
  // waits.
  ipc::Expected<std::variant<ipc::ReceivedMessage, ipc::NoMessage>> TryReceive(
      size_t max_descriptors) {
    return ipc::TryReceiveMessage(socket_.get(), max_descriptors);
  }
  // Sends the message at once, or fails if the socket is full or closed.
  ipc::Expected<void> Send(capnp::MessageBuilder& message,
                           std::span<const int> descriptors = {});
  // Ends what this side sends; the peer can go on sending.
  void EndSending();
  // Shuts the connection down for both sides.
  void Shutdown();

 private:
  kj::UnixEventPort& port_;
  const ipc::UniqueFd socket_;
  kj::UnixEventPort::FdObserver observer_;
  // The messages received since the event loop last polled.
  uint32_t ready_at_once_ = 0;
};

}  // namespace bulkhead::sockets
