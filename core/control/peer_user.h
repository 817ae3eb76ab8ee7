// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/socket.h>
#include <sys/types.h>

#include <optional>

namespace bulkhead {

// The users that a process believes when they are at the other end of a Unix
// socket: its own and root, as its user namespace knows them.
//
// A user namespace that maps only some users, as in a rootless container, shows
// each of the others by one and the same uid (/proc/sys/kernel/overflowuid,
// "nobody"). So whoever has that uid there may be a stranger, even this process
// itself, and is not believed.
struct BelievedUsers {
  uid_t own = 0;
  // The uid by which users are shown that the namespace does not map; nullopt
  // if it maps all.
  std::optional<uid_t> unmapped;

  // Returns this process's. Where /proc does not say which users are
  // mapped, 65534 counts as unmapped.
  static BelievedUsers OfThisProcess();

  bool Believes(uid_t uid) const {
    return uid != unmapped && (uid == own || uid == 0);
  }
};

// Returns who connected `socket`, or listened where it is connected to, as the
// kernel noted it then (SO_PEERCRED); nullopt if the kernel does not say.
std::optional<ucred> PeerOf(int socket);

}  // namespace bulkhead
