// SPDX-License-Identifier: Apache-2.0
#include "tools/install/directory_lock.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>

#include "core/discovery/text.h"
#include "tools/install/tree.h"

namespace bulkhead::install {

Result<DirectoryLock> DirectoryLock::Acquire(const std::string& directory,
                                             std::chrono::milliseconds limit) {
  const std::string name = discovery::Quoted(directory);
  ipc::UniqueFd fd(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) {
    const bool absent = errno == ENOENT;
    const Status status = FromErrno(name, errno);
    return absent ? Status(Code::kNotFound, status.message()) : status;
  }
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) {
      return FromErrno("cannot lock " + name, errno);
    }
    if (std::chrono::steady_clock::now() >= deadline) {
      return Status(Code::kDeadlineExceeded,
                    "another installer is at work in " + name +
                        ": wait for it to end, then try again");
    }
    // flock has no deadline, and no event tells of a lock that is dropped.
    poll(nullptr, 0, 10);
  }
  struct stat info;
  if (fstat(fd.get(), &info) != 0 || info.st_nlink == 0) {
    return Status(Code::kNotFound, name + " was removed meanwhile");
  }
  return DirectoryLock(std::move(fd));
}

}  // namespace bulkhead::install
