// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <utility>

#include "core/include/bulkhead/status.h"
#include "ipc/unique_fd.h"

namespace bulkhead::install {

// A lock that lets one installer at a time change a plugin directory. It is a
// flock on the file .bulkhead-lock there, which only those can open who may
// write to the directory: a lock on the directory itself could be held by
// everybody who may read it. The kernel releases it however its holder ends.
// Discovery does not take the lock; transaction.h says why it need not. The
// destructor releases the lock, and removes the file.
class DirectoryLock {
 public:
  // Opens and locks the directory. Waits `limit` at most. Returns kNotFound if
  // the directory does not exist, and kDeadlineExceeded if another process held
  // the lock all the time. Locks nothing where this process may not write,
  // since it can change nothing there.
  static Result<DirectoryLock> Acquire(const std::string& directory,
                                       std::chrono::milliseconds limit);

  DirectoryLock(DirectoryLock&&) = default;
  ~DirectoryLock();

  // The open directory, owned by the lock.
  int fd() const { return directory_.get(); }

 private:
  DirectoryLock(ipc::UniqueFd directory, ipc::UniqueFd file)
      : directory_(std::move(directory)), file_(std::move(file)) {}

  ipc::UniqueFd directory_;
  ipc::UniqueFd file_;  // none if nothing is locked
};

}  // namespace bulkhead::install
