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

// A socket for Cap'n Proto messages in bulkheadd's event loop. The peer may be
// hostile: ipc/message_socket.h bounds what it can send, and Send() does not
// wait for a peer that reads no messages.
//
// Bound to the event loop's thread. Call Receive() once at a time; dropping its
// promise cancels it.
class EventSocket {
 public:
  EventSocket(kj::UnixEventPort& port, ipc::UniqueFd socket);

  // Resolves with the next message, or with nullopt once the peer has closed
  // its end. A malformed message is an error; drop the socket then.
  kj::Promise<ipc::Expected<std::optional<ipc::ReceivedMessage>>> Receive(
      size_t max_descriptors);
  // Returns a message that has arrived, without waiting. Do not call it while
  // Receive() waits.
  ipc::Expected<std::variant<ipc::ReceivedMessage, ipc::NoMessage>> TryReceive(
      size_t max_descriptors) {
    return ipc::TryReceiveMessage(socket_.get(), max_descriptors);
  }
  // Sends the message at once, or fails if the socket is full or closed.
  ipc::Expected<void> Send(capnp::MessageBuilder& message,
                           std::span<const int> descriptors = {});
  // Closes the direction to the peer (half-close); the peer can go on sending.
  void EndSending();
  // Shuts the connection down for both sides.
  void Shutdown();

 private:
  kj::UnixEventPort& port_;
  const ipc::UniqueFd socket_;
  kj::UnixEventPort::FdObserver observer_;
  // The number of messages received since the event loop last polled.
  uint32_t ready_at_once_ = 0;
};

}  // namespace bulkhead::sockets
