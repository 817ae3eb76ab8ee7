// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/include/bulkhead/status.h"
#include "ipc/unique_fd.h"

namespace bulkhead::operators {

// A connection to the operators' socket of a bulkheadd. The kernel has
// confirmed (core/control/peer_user.h) that the peer runs as this user or as
// root, and has reported the pid of the peer.
struct OperatorPeer {
  std::string address;
  int host_pid = 0;  // pid of the application, as the address claims
  int supervisor_pid = 0;
  ipc::UniqueFd socket;
};

// A bulkheadd that cannot be reached now.
struct SilentPeer {
  int host_pid = 0;    // pid of the application, as the address claims
  std::string reason;  // a sentence that names the process
};

// The bulkheadds that FindPeers() could and could not reach.
struct FoundPeers {
  std::vector<OperatorPeer> peers;
  std::vector<SilentPeer> silent;  // at most 16 of them
  // Returns the error for an operation that needs at least one peer.
  Status NotFound(std::optional<int> host_pid) const;
};

// Connects to the bulkheadds of one application, or of all applications, except
// to addresses that are `known`. Does not wait.
//
// Any user may listen at addresses of this form. Such strangers are passed
// over, where the kernel names their uid before a connection. With `host_pid`,
// one of them is a SilentPeer.
Result<FoundPeers> FindPeers(std::optional<int> host_pid,
                             const std::set<std::string>& known = {});

// An address at which a bulkheadd listens, the pid of the application that the
// address claims, and the number of the socket.
struct ListedAddress {
  std::string address;
  int host_pid = 0;
  uint64_t inode = 0;
};
// Returns the address in a line of /proc/net/unix if the line shows a socket
// that listens at an address of the form that a bulkheadd of user `uid` has;
// else nullopt.
std::optional<ListedAddress> ParseListed(const std::string& line, unsigned uid);

}  // namespace bulkhead::operators
