// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <utility>

#include "core/include/bulkhead/status.h"
#include "ipc/unique_fd.h"

namespace bulkhead::install {

// A lock that lets one installer at a time change a plugin directory. It is a
// flock on the file .bulkhead-lock in the directory. Only users who may write
// to the directory can open this file, so nobody else can hold the lock.
// (Anybody who may read the directory could hold a flock on the directory
// itself.) The kernel releases the lock when its holder ends, even by a crash.
// Discovery does not take the lock; transaction.h says why not. The destructor
// releases the lock and removes the file.
class DirectoryLock {
 public:
  // Opens and locks the directory. Waits at most `limit`. Returns kNotFound if
  // the directory does not exist, and kDeadlineExceeded if other processes held
  // the lock all the time. If this process may not write to the directory, it
  // can change nothing there, and the result holds no lock.
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
  ipc::UniqueFd file_;  // Not open if this process may not write.
};

}  // namespace bulkhead::install
