// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/socket.h>
#include <sys/types.h>

#include <optional>

namespace bulkhead {

// The users whom a process trusts at the other end of a Unix socket: its own
// user and root, as its user namespace numbers them.
//
// A user namespace may map only some users, for instance in a rootless
// container. All other users then appear with one uid, "nobody"
// (/proc/sys/kernel/overflowuid). A process with that uid may be a stranger's,
// so the uid is not trusted, even if it is this process's own.
struct BelievedUsers {
  uid_t own = 0;
  // The uid with which users appear that the namespace does not map; nullopt if
  // it maps all users.
  std::optional<uid_t> unmapped;

  // Returns the users whom this process trusts. If /proc does not say which uid
  // stands for users that are not mapped, 65534 counts as that uid.
  static BelievedUsers OfThisProcess();

  bool Believes(uid_t uid) const {
    return uid != unmapped && (uid == own || uid == 0);
  }
};

// Returns the peer of a connected socket, as the kernel noted it when the
// connection was made (SO_PEERCRED); nullopt if the kernel does not say.
std::optional<ucred> PeerOf(int socket);

}  // namespace bulkhead
