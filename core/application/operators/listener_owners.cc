// SPDX-License-Identifier: Apache-2.0
#include "core/application/operators/listener_owners.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <cstring>

#include "ipc/unique_fd.h"

namespace bulkhead::operators {
namespace {

// UDIAG_SHOW_UID and UNIX_DIAG_UID of Linux 5.3. The installed headers may be
// older.
constexpr uint32_t kShowUid = 0x40;
constexpr unsigned short kUidAttribute = 7;
// The size of the largest message of the kernel.
constexpr size_t kMostBytes = size_t{32} << 10;

// Asks for all listening sockets. A question for the uid of a single socket
// would crash kernels from 5.3 to 6.0 (CVE-2023-28327).
bool Ask(int socket) {
  struct {
    nlmsghdr header;
    unix_diag_req asked;
  } request = {};
  request.header.nlmsg_len = sizeof(request);
  request.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  request.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  request.asked.sdiag_family = AF_UNIX;
  request.asked.udiag_states = 1u << TCP_LISTEN;
  request.asked.udiag_show = kShowUid;
  return ::send(socket, &request, sizeof(request), MSG_NOSIGNAL) ==
         static_cast<ssize_t>(sizeof(request));
}

// Parses one answer of the kernel, which describes one socket, and adds its
// owner if the answer has one.
void AddOwner(nlmsghdr* message, std::map<uint64_t, uid_t>& owners) {
  if (message->nlmsg_len < NLMSG_LENGTH(sizeof(unix_diag_msg))) return;
  auto* const answer = static_cast<unix_diag_msg*>(NLMSG_DATA(message));
  auto left =
      static_cast<int>(message->nlmsg_len - NLMSG_LENGTH(sizeof(*answer)));
  for (auto* attribute = reinterpret_cast<rtattr*>(answer + 1);
       RTA_OK(attribute, left); attribute = RTA_NEXT(attribute, left)) {
    uid_t uid = 0;
    if (attribute->rta_type != kUidAttribute ||
        RTA_PAYLOAD(attribute) < sizeof(uid)) {
      continue;
    }
    std::memcpy(&uid, RTA_DATA(attribute), sizeof(uid));
    owners[answer->udiag_ino] = uid;
  }
}

}  // namespace

std::map<uint64_t, uid_t> OwnersOfListeners() {
  std::map<uint64_t, uid_t> owners;
  const ipc::UniqueFd socket(
      ::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
  if (!socket || !Ask(socket.get())) return owners;
  alignas(nlmsghdr) std::array<char, kMostBytes> buffer;
  for (;;) {
    // The kernel answers within the call, so there is nothing to wait for.
    const ssize_t got =
        ::recv(socket.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (got <= 0) return owners;
    auto left = static_cast<unsigned>(got);
    for (auto* message = reinterpret_cast<nlmsghdr*>(buffer.data());
         NLMSG_OK(message, left); message = NLMSG_NEXT(message, left)) {
      if (message->nlmsg_type != SOCK_DIAG_BY_FAMILY) return owners;
      AddOwner(message, owners);
    }
  }
}

}  // namespace bulkhead::operators
