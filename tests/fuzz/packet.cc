// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/packet.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <cstring>
#include <utility>
#include <variant>

#include "tests/fuzz/check.h"

namespace bulkhead::fuzz {

bool SendPacket(int socket, std::span<const uint8_t> packet, int fd) {
  iovec bytes = {.iov_base = const_cast<uint8_t*>(packet.data()),
                 .iov_len = packet.size()};
  msghdr message = {};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  if (fd >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof fd);
    std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
  }
  return ::sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL) ==
         static_cast<ssize_t>(packet.size());
}

std::optional<ipc::ReceivedMessage> Received(std::span<const uint8_t> packet) {
  static const auto sockets = ipc::MakeSocketPair().value();
  // An empty packet looks like the end of the connection.
  if (packet.empty()) return std::nullopt;
  FUZZ_CHECK(SendPacket(sockets.first.get(), packet));
  auto received = ipc::TryReceiveMessage(sockets.second.get(), 0);
  if (!received) {
    FUZZ_CHECK(received.error().code == ipc::Code::kBackendMisbehaved);
    return std::nullopt;
  }
  auto* const message = std::get_if<ipc::ReceivedMessage>(&*received);
  FUZZ_CHECK(message != nullptr && message->descriptors.empty());
  return std::move(*message);
}

}  // namespace bulkhead::fuzz
