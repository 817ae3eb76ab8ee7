// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>

namespace bulkhead::operators {

// Returns who made each Unix socket that listens in this network namespace, by
// its inode as in /proc/net/unix. The kernel says that without a connection
// (NETLINK_SOCK_DIAG), so that nobody has to be connected to in order to learn
// that it is a stranger.
//
// Lacks sockets that came or went meanwhile. Empty where the kernel does not
// tell: before Linux 5.3, without CONFIG_UNIX_DIAG, or where a filter of system
// calls refuses such sockets.
std::map<uint64_t, uid_t> OwnersOfListeners();

}  // namespace bulkhead::operators
