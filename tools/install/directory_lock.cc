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

// Opens the file that is locked, for those who may write to a directory of this
// mode. Returns none with errno if it cannot be opened.
ipc::UniqueFd OpenLockFile(int directory, mode_t directory_mode) {
  ipc::UniqueFd file(openat(directory, kLockFile,
                            O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  const mode_t shared = directory_mode & (S_IWGRP | S_IWOTH);
  // Fails where the file is another user's, who has set its mode.
  if (file && shared != 0) (void)fchmod(file.get(), 0600 | shared);
  return file;
}

// Waits for the lock with a deadline, which flock itself does not have. The
// lock belongs to the open file, which parent and child of a fork share: so a
// child waits for the lock, and the parent waits for the child until the
// deadline.
Status AwaitLock(int fd, const std::string& name,
                 std::chrono::milliseconds limit) {
  const pid_t child = fork();
  if (child < 0) return FromErrno("cannot fork", errno);
  if (child == 0) {
    // Closes all other descriptors, because one of them may be a lock of
    // another thread, which would stay held until this child ends.
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
    // The holder before may have removed the file, and another process may
    // have locked the next one.
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
