// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/include/bulkhead/status.h"
#include "ipc/unique_fd.h"

namespace bulkhead::operators {

// A connection to the operators' socket of a bulkheadd. The kernel has told
// (SO_PEERCRED) that the peer runs as this user or as root, and what its pid
// is.
struct OperatorPeer {
  std::string address;
  int host_pid = 0;  // of the application, as the address claims
  int supervisor_pid = 0;
  ipc::UniqueFd socket;
};

struct FoundPeers {
  std::vector<OperatorPeer> peers;
  // Which bulkheadds cannot be reached now, and why; a sentence each.
  std::vector<std::string> silent;
  // Returns the error for an operation that needs at least one peer.
  Status NotFound(std::optional<int> host_pid) const;
};

// Connects to the bulkheadds of one application, or of all applications, except
// to addresses that are `known`. Does not wait.
Result<FoundPeers> FindPeers(std::optional<int> host_pid,
                             const std::set<std::string>& known = {});

// Returns the address in a line of /proc/net/unix if the line shows a socket
// that listens at an address as a bulkheadd of that user has; else nullopt.
struct ListedAddress {
  std::string address;
  int host_pid;
};
std::optional<ListedAddress> ParseListed(const std::string& line, unsigned uid);

}  // namespace bulkhead::operators
