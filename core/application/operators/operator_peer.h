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

// A connection to the socket on which a bulkheadd listens for operators. The
// kernel has confirmed that the peer runs as this user or as root
// (core/control/peer_user.h), and has reported the pid of the peer.
struct OperatorPeer {
  std::string address;  // name of the socket in the abstract namespace
  int host_pid = 0;     // pid of the application, as the address claims
  int supervisor_pid = 0;
  ipc::UniqueFd socket;
};

// A bulkheadd that cannot be reached now, or a stranger: a process of another
// user that listens at an address that looks like a bulkheadd's.
struct SilentPeer {
  int host_pid = 0;    // pid of the application, as the address claims
  std::string reason;  // a sentence that names the process
};

// The bulkheadds that FindPeers() could and could not reach.
struct FoundPeers {
  std::vector<OperatorPeer> peers;
  std::vector<SilentPeer> silent;  // at most 16 of them
  // Returns the error for an operation that needs at least one peer, with the
  // reasons of `silent`. `host_pid` is the argument of FindPeers().
  Status NotFound(std::optional<int> host_pid) const;
};

// Connects to the bulkheadds of the application `host_pid`, or, for nullopt, of
// all applications of this user. Skips the addresses in `known`. Does not wait.
//
// Trust: any user may listen at such an address, so the uid of each listener is
// checked twice: before connecting, if the kernel reports it then
// (OwnersOfListeners()), and after connecting. With `host_pid`, strangers are
// listed in `silent`, with the reason; without, they are left out.
//
// Returns kUnsupported if /proc/net/unix cannot be read.
Result<FoundPeers> FindPeers(std::optional<int> host_pid,
                             const std::set<std::string>& known = {});

// An address at which a bulkheadd seems to listen, as /proc/net/unix shows it.
struct ListedAddress {
  std::string address;
  int host_pid = 0;    // pid of the application, as the address claims
  uint64_t inode = 0;  // number of the socket
};
// Parses a line of /proc/net/unix. Returns nullopt unless the line shows a
// listening socket whose address has the form that a bulkheadd of the user
// `uid` uses.
std::optional<ListedAddress> ParseListed(const std::string& line, unsigned uid);

}  // namespace bulkhead::operators
