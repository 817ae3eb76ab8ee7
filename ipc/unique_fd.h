// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace bulkhead::ipc {

// Owns one file descriptor and closes it. In all other code, a plain `int fd`
// parameter is borrowed. Not thread-safe.
//
// Never owns a standard descriptor. The kernel gives out the lowest free
// number. So in an application that has closed 0, 1 or 2, one of Bulkhead's
// sockets could get that number, and the application would print into this
// socket. The constructor therefore moves those three numbers up, with
// close-on-exec. If no other number is left, the object owns nothing and errno
// says why.
class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd)
      : fd_(0 <= fd && fd <= STDERR_FILENO ? MovedUp(fd) : fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(other.release()) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    const int fd = other.release();
    reset();
    fd_ = fd;
    return *this;
  }
  ~UniqueFd() { reset(); }

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  int release() { return std::exchange(fd_, -1); }
  void reset() {
    // No retry: Linux closes the descriptor even if close() reports EINTR.
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }

 private:
  // Moves a standard descriptor to a higher number; -1 with errno if that
  // fails.
  static int MovedUp(int fd) {
    const int moved = ::fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    const int error = errno;
    ::close(fd);
    errno = error;
    return moved;
  }

  int fd_ = -1;
};

}  // namespace bulkhead::ipc
