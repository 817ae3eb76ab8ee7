// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <array>
#include <map>
#include <string>
#include <vector>

#include "ipc/testing/forked_child.h"
#include "ipc/unique_fd.h"
#include "tests/escape/onlooker/snapshot.h"

namespace bulkhead::tests {

// The ordinary user as whom an onlooker runs: neither the application's nor a
// sandbox's.
inline constexpr uid_t kOnlooker = 65532;

// Another user of the machine, in a process of its own, who reads what it can.
//
//   Onlooker onlooker;                        // as root
//   onlooker.Watch({"/tmp/plugins"});
//   ...
//   const Snapshot seen = onlooker.Look({{"worker", pid}});
//
// May be used by a process that was forked later too, one at a time.
class Onlooker {
 public:
  Onlooker();

  // Returns whether the process runs as kOnlooker.
  bool valid() const { return valid_; }
  // Begins to count the events (inotify) of these files and of what is in these
  // directories. Returns how many it may watch.
  size_t Watch(const std::vector<std::string>& paths) const;
  // Returns what can be read of the processes, by their roles, of the machine,
  // and of the directories that hold shared and temporary files, and the events
  // since the last call.
  Snapshot Look(const std::map<std::string, pid_t>& processes) const;

 private:
  std::array<ipc::UniqueFd, 2> ends_;  // of a socket: the caller's, the child's
  ipc::ForkedChild child_;
  bool valid_ = false;
};

}  // namespace bulkhead::tests
