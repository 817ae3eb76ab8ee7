// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

#include <cstddef>
#include <string>

namespace bulkhead {

// Returns the beginning of the names of the abstract sockets on which the
// bulkheadd of the user `uid` listen for operators. A whole name is
// "bulkhead/UID/PID/RANDOM", with the pid of the application.
//
// An abstract socket leaves no file. The random part keeps other users from
// taking the name beforehand. But other users may listen on different names of
// the same form, so each side of a connection checks the user of the other side
// (peer_user.h).
inline std::string OperatorAddressPrefix(uid_t uid) {
  return "bulkhead/" + std::to_string(uid) + "/";
}

// Fills in the address of the abstract socket `name`, and its size. Returns
// false if the name is too long.
inline bool ToAddress(const std::string& name, sockaddr_un& address,
                      socklen_t& bytes) {
  address = {};
  address.sun_family = AF_UNIX;
  if (name.size() + 1 > sizeof(address.sun_path)) return false;
  name.copy(address.sun_path + 1, name.size());
  bytes =
      static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return true;
}

}  // namespace bulkhead
