// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "ipc/unique_fd.h"

namespace bulkhead::supervisor_link {

// The programs of one installation: bulkheadd, the reaper and the worker. Their
// files are opened once, when a Host is created, and started by descriptor. So
// an upgrade of the installed files does not reach a running application: if
// bulkheadd dies, the same version is started again, which speaks the protocol
// of the library in memory.
//
// A file that cannot be opened has the descriptor -1. The program is then
// started by its path, which fails with the reason. The descriptors are
// close-on-exec. Immutable, so any thread may read the object.
class InstalledPrograms {
 public:
  // Opens the programs in `directory`, the libexec directory.
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
