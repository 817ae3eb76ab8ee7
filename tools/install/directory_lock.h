// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <utility>

#include "core/include/bulkhead/status.h"
#include "ipc/unique_fd.h"

namespace bulkhead::install {

// A lock that lets one installer at a time change a plugin directory. It is a
// flock on the directory itself, so that it leaves no file behind, and the
// kernel releases it however its holder ends. Discovery does not take the lock;
// transaction.h says why it need not. The destructor releases the lock.
class DirectoryLock {
 public:
  // Opens and locks the directory. Waits `limit` at most. Returns kNotFound if
  // the directory does not exist, and kDeadlineExceeded if another process held
  // the lock all the time.
  static Result<DirectoryLock> Acquire(const std::string& directory,
                                       std::chrono::milliseconds limit);

  // The open directory, owned by the lock.
  int fd() const { return fd_.get(); }

 private:
  explicit DirectoryLock(ipc::UniqueFd fd) : fd_(std::move(fd)) {}

  ipc::UniqueFd fd_;
};

}  // namespace bulkhead::install
