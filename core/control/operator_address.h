// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

#include <cstddef>
#include <string>

namespace bulkhead {

// Where a bulkheadd listens for operators: an abstract socket, of which no file
// is ever left over, named "bulkhead/UID/PID/RANDOM" after its user and its
// application. Nobody can take a name beforehand that has a random part; that
// somebody else takes one of the form is why both sides look at SO_PEERCRED.
inline std::string OperatorAddressPrefix(uid_t uid) {
  return "bulkhead/" + std::to_string(uid) + "/";
}

// Of an abstract socket. False: it is too long.
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
