// SPDX-License-Identifier: Apache-2.0
#include "tests/escape/listeners.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstddef>

namespace bulkhead::tests {
namespace {

ipc::UniqueFd Listen(const sockaddr* address, socklen_t bytes) {
  ipc::UniqueFd fd(socket(address->sa_family,
                          SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd || bind(fd.get(), address, bytes) != 0 || listen(fd.get(), 4) != 0) {
    return {};
  }
  return fd;
}

}  // namespace

ipc::UniqueFd ListenTcp(int* port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* name = reinterpret_cast<sockaddr*>(&address);
  auto fd = Listen(name, sizeof address);
  socklen_t bytes = sizeof address;
  if (!fd || getsockname(fd.get(), name, &bytes) != 0) return {};
  *port = ntohs(address.sin_port);
  return fd;
}

ipc::UniqueFd ListenUnix(const std::string& name) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  name.copy(address.sun_path, sizeof address.sun_path - 1);
  return Listen(
      reinterpret_cast<sockaddr*>(&address),
      static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size()));
}

}  // namespace bulkhead::tests
