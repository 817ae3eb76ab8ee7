// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/event_socket.h"

#include <utility>
#include <variant>

namespace bulkhead::supervisor {

using Received = ipc::Expected<std::optional<ipc::ReceivedMessage>>;

EventSocket::EventSocket(kj::UnixEventPort& port, ipc::UniqueFd socket)
    : socket_(std::move(socket)),
      observer_(port, socket_.get(),
                kj::UnixEventPort::FdObserver::OBSERVE_READ) {}

kj::Promise<Received> EventSocket::Receive(size_t max_descriptors) {
  auto received = ipc::TryReceiveMessage(socket_.get(), max_descriptors);
  if (!received) return Received(tl::unexpected(std::move(received).error()));
  if (auto* message = std::get_if<ipc::ReceivedMessage>(&*received)) {
    return Received(std::move(*message));
  }
  if (std::get<ipc::NoMessage>(*received) == ipc::NoMessage::kClosed) {
    return Received(std::nullopt);
  }
  return observer_.whenBecomesReadable().then(
      [this, max_descriptors] { return Receive(max_descriptors); });
}

ipc::Expected<void> EventSocket::Send(capnp::MessageBuilder& message,
                                      std::span<const int> descriptors) {
  return ipc::SendMessage(socket_.get(), message, descriptors,
                          ipc::Deadline::After(std::chrono::milliseconds(0)));
}

}  // namespace bulkhead::supervisor
