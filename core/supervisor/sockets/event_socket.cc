// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/sockets/event_socket.h"

#include <sys/socket.h>

#include <utility>
#include <variant>

namespace bulkhead::sockets {

// The most messages that are received without letting the event loop poll. kj
// polls descriptors and timers only when no promise is ready, so a peer that
// always has a message ready would keep all others waiting.
constexpr uint32_t kMaxReadyAtOnce = 32;

using Received = ipc::Expected<std::optional<ipc::ReceivedMessage>>;

EventSocket::EventSocket(kj::UnixEventPort& port, ipc::UniqueFd socket)
    : port_(port),
      socket_(std::move(socket)),
      observer_(port, socket_.get(),
                kj::UnixEventPort::FdObserver::OBSERVE_READ) {}

kj::Promise<Received> EventSocket::Receive(size_t max_descriptors) {
  if (++ready_at_once_ > kMaxReadyAtOnce) {
    ready_at_once_ = 0;
    return port_.getTimer()
        .afterDelay(0 * kj::SECONDS)
        .then([this, max_descriptors] { return Receive(max_descriptors); });
  }
  auto received = ipc::TryReceiveMessage(socket_.get(), max_descriptors);
  if (!received) return Received(tl::unexpected(std::move(received).error()));
  if (auto* message = std::get_if<ipc::ReceivedMessage>(&*received)) {
    return Received(std::move(*message));
  }
  if (std::get<ipc::NoMessage>(*received) == ipc::NoMessage::kClosed) {
    return Received(std::nullopt);
  }
  ready_at_once_ = 0;
  return observer_.whenBecomesReadable().then(
      [this, max_descriptors] { return Receive(max_descriptors); });
}

ipc::Expected<void> EventSocket::Send(capnp::MessageBuilder& message,
                                      std::span<const int> descriptors) {
  return ipc::SendMessage(socket_.get(), message, descriptors,
                          ipc::Deadline::After(std::chrono::milliseconds(0)));
}

void EventSocket::EndSending() { ::shutdown(socket_.get(), SHUT_WR); }

void EventSocket::Shutdown() { ::shutdown(socket_.get(), SHUT_RDWR); }

}  // namespace bulkhead::sockets
