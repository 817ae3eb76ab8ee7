// SPDX-License-Identifier: Apache-2.0
#include "tools/install/directory_lock.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "core/base/text.h"
#include "tools/install/tree.h"

namespace bulkhead::install {
namespace {

constexpr char kLockFile[] = ".bulkhead-lock";

// Opens or creates the lock file, writable for the users who may write to a
// directory of mode `directory_mode`. Sets errno if the result is not open.
ipc::UniqueFd OpenLockFile(int directory, mode_t directory_mode) {
  ipc::UniqueFd file(openat(directory, kLockFile,
                            O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  const mode_t shared = directory_mode & (S_IWGRP | S_IWOTH);
  // fchmod() fails if another user owns the file; that user has set the mode.
  if (file && shared != 0) (void)fchmod(file.get(), 0600 | shared);
  return file;
}

// Waits for the lock at most `limit`. flock() has no deadline, but its lock
// belongs to the open file, which a parent and its forked child share. So a
// child waits for the lock in flock(), and this process waits for the child
// until the deadline.
Status AwaitLock(int fd, const std::string& name,
                 std::chrono::milliseconds limit) {
  const pid_t child = fork();
  if (child < 0) return FromErrno("cannot fork", errno);
  if (child == 0) {
    // Closes all other descriptors: one may belong to another thread's lock,
    // which the child would hold until it ends.
    if (fd > 0) syscall(SYS_close_range, 0, fd - 1, 0);
    syscall(SYS_close_range, fd + 1, ~0U, 0);
    while (flock(fd, LOCK_EX) != 0) {
      if (errno != EINTR) _exit(errno);
    }
    _exit(0);
  }
  const ipc::UniqueFd pidfd(
      static_cast<int>(syscall(SYS_pidfd_open, child, 0)));
  pollfd ended = {.fd = pidfd.get(), .events = POLLIN, .revents = 0};
  const auto deadline = std::chrono::steady_clock::now() + limit;
  int ready = 0;
  do {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    ready = poll(&ended, 1, static_cast<int>(std::max(left.count(), 0L)));
  } while (ready < 0 && errno == EINTR);
  if (ready <= 0) kill(child, SIGKILL);
  int how = 0;
  while (waitpid(child, &how, 0) < 0 && errno == EINTR) {
  }
  if (ready <= 0) {
    return Status(Code::kDeadlineExceeded,
                  "another installer is at work in " + name +
                      ": wait for it to end, then try again");
  }
  if (WIFEXITED(how) && WEXITSTATUS(how) == 0) return Status();
  return FromErrno("cannot lock " + name,
                   WIFEXITED(how) ? WEXITSTATUS(how) : EINTR);
}

}  // namespace

Result<DirectoryLock> DirectoryLock::Acquire(const std::string& directory,
                                             std::chrono::milliseconds limit) {
  const std::string name = Quoted(directory);
  const auto deadline = std::chrono::steady_clock::now() + limit;
  ipc::UniqueFd opened(
      open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  struct stat info = {};
  if (!opened || fstat(opened.get(), &info) != 0) {
    const bool absent = errno == ENOENT;
    const Status status = FromErrno(name, errno);
    return absent ? Status(Code::kNotFound, status.message()) : status;
  }
  for (;;) {
    ipc::UniqueFd file = OpenLockFile(opened.get(), info.st_mode);
    if (!file && errno == ENOENT) {
      return Status(Code::kNotFound, name + " was removed meanwhile");
    }
    if (!file && (errno == EACCES || errno == EROFS)) {
      return DirectoryLock(std::move(opened), std::move(file));
    }
    if (!file) return FromErrno("cannot lock " + name, errno);
    if (flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(
          deadline - std::chrono::steady_clock::now());
      if (Status locked = AwaitLock(file.get(), name, left); !locked.ok()) {
        return locked;
      }
    }
    // The previous holder may have removed this file before it released the
    // lock. Another process may then have created and locked a new file, so a
    // lock on the removed file (st_nlink 0) protects nothing: tries again.
    if (fstat(file.get(), &info) == 0 && info.st_nlink > 0) {
      return DirectoryLock(std::move(opened), std::move(file));
    }
    if (fstat(opened.get(), &info) != 0) return FromErrno(name, errno);
  }
}

DirectoryLock::~DirectoryLock() {
  if (file_) unlinkat(directory_.get(), kLockFile, 0);
}

}  // namespace bulkhead::install
