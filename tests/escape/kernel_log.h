// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>

#include "ipc/unique_fd.h"

namespace bulkhead::tests {

// Reads what the kernel logs about processes, from when the object was made.
class KernelLog {
 public:
  KernelLog();

  // Returns whether this user may read the log.
  bool readable() const { return readable_; }
  // Returns the records about a process since the last call.
  std::string About(pid_t pid);

 private:
  ipc::UniqueFd fd_;
  bool readable_ = false;
};

}  // namespace bulkhead::tests
