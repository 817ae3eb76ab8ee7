// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>

namespace bulkhead::operators {

// Maps each listening Unix socket of this network namespace, by its inode as in
// /proc/net/unix, to the uid of the user who created it. The kernel answers
// this without a connection to the socket (NETLINK_SOCK_DIAG), so a socket of
// another user is recognised before anybody connects.
//
// Sockets that are created or closed meanwhile may be missing. The map is empty
// where the kernel does not answer: before Linux 5.3, without CONFIG_UNIX_DIAG,
// or where a filter of system calls refuses netlink sockets.
std::map<uint64_t, uid_t> OwnersOfListeners();

}  // namespace bulkhead::operators
