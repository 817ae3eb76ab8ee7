// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/include/bulkhead/status.h"
#include "ipc/unique_fd.h"

namespace bulkhead::operators {

// A bulkheadd of this user, as its operators reach it. The kernel has told that
// it runs as this user or as root, and that its pid is `supervisor_pid`.
struct OperatorPeer {
  std::string address;
  int host_pid = 0;  // as its address says
  int supervisor_pid = 0;
  ipc::UniqueFd socket;
};

struct FoundPeers {
  std::vector<OperatorPeer> peers;
  std::vector<std::string> silent;  // cannot be reached now, and why

  // All of them are silent, or there is none at all.
  Status NotFound(std::optional<int> host_pid) const;
};

// Connects to those of one application, or of all, but not to `known`
// addresses. Does not wait.
Result<FoundPeers> FindPeers(std::optional<int> host_pid,
                             const std::set<std::string>& known = {});

// The address in a line of /proc/net/unix, if somebody listens there as a
// bulkheadd of that user would; nullopt: not so.
struct ListedAddress {
  std::string address;
  int host_pid;
};
std::optional<ListedAddress> ParseListed(const std::string& line, unsigned uid);

}  // namespace bulkhead::operators
