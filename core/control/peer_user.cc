// SPDX-License-Identifier: Apache-2.0
#include "core/control/peer_user.h"

#include <unistd.h>

#include <cstdint>
#include <fstream>

namespace bulkhead {
namespace {

constexpr uid_t kUsualOverflowUid = 65534;
// The number of uids. The largest number of 32 bits is no uid.
constexpr uint64_t kAllUsers = 4'294'967'295;

// The map of a namespace that maps all users has one line, "0 0 4294967295".
bool MapsAllUsers() {
  std::ifstream file("/proc/self/uid_map");
  uint64_t inside = 0, outside = 0, count = 0;
  return file >> inside >> outside >> count && inside == 0 && outside == 0 &&
         count == kAllUsers;
}

uid_t OverflowUid() {
  std::ifstream file("/proc/sys/kernel/overflowuid");
  uid_t uid = 0;
  return file >> uid ? uid : kUsualOverflowUid;
}

}  // namespace

BelievedUsers BelievedUsers::OfThisProcess() {
  BelievedUsers users{.own = ::geteuid(), .unmapped = std::nullopt};
  if (!MapsAllUsers()) users.unmapped = OverflowUid();
  return users;
}

std::optional<ucred> PeerOf(int socket) {
  ucred peer;
  socklen_t bytes = sizeof(peer);
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0) {
    return std::nullopt;
  }
  return peer;
}

}  // namespace bulkhead
