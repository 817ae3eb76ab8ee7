// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "ipc/unique_fd.h"

namespace bulkhead::supervisor_link {

// The programs of one installation: bulkheadd, and those that it starts. They
// are opened once, when a Host is created. So an upgrade of the installed files
// does not reach a running application: a bulkheadd that has to be replaced
// later is the same program again, and speaks the protocol of the library that
// is in memory.
//
// A program that cannot be opened has the descriptor -1. Whoever needs it then
// uses its path, which fails with the reason. Immutable, so any thread may read
// it. The descriptors are close-on-exec.
class InstalledPrograms {
 public:
  explicit InstalledPrograms(std::string directory);

  const std::string& directory() const { return directory_; }
  std::string supervisor_path() const { return directory_ + "/bulkheadd"; }
  std::string reaper_path() const { return directory_ + "/bulkhead-reaper"; }
  std::string worker_path() const { return directory_ + "/bulkhead-worker"; }
  int supervisor() const { return supervisor_.get(); }
  int reaper() const { return reaper_.get(); }
  int worker() const { return worker_.get(); }

 private:
  std::string directory_;
  ipc::UniqueFd supervisor_;
  ipc::UniqueFd reaper_;
  ipc::UniqueFd worker_;
};

}  // namespace bulkhead::supervisor_link
