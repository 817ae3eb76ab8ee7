// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <utility>

#include "core/include/bulkhead/status.h"
#include "ipc/unique_fd.h"

namespace bulkhead::install {

// One installer at a time in a plugin directory. The lock is flock on the
// directory itself: it leaves no file behind, and the kernel drops it however
// its holder ends. Discovery does not take it; see transaction.h for why it
// need not.
class DirectoryLock {
 public:
  // Opens and locks. kNotFound if there is no such directory,
  // kDeadlineExceeded if another process holds it all the while.
  static Result<DirectoryLock> Acquire(const std::string& directory,
                                       std::chrono::milliseconds limit);

  // The directory, open for as long as this lives.
  int fd() const { return fd_.get(); }

 private:
  explicit DirectoryLock(ipc::UniqueFd fd) : fd_(std::move(fd)) {}

  ipc::UniqueFd fd_;
};

}  // namespace bulkhead::install
