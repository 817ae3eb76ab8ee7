// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>

#include "ipc/unique_fd.h"

namespace bulkhead::cli::top {

// Wakes the thread that waits in poll() for fd() to be readable. Signal() may
// be called by any thread; fd() and Clear() belong to the one that waits.
class Wake {
 public:
  Wake() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

  int fd() const { return fd_.get(); }
  void Signal() const {
    const uint64_t one = 1;
    // It fails only if the waiting thread has been woken very often before.
    (void)!::write(fd_.get(), &one, sizeof one);
  }
  void Clear() const {
    uint64_t count = 0;
    (void)!::read(fd_.get(), &count, sizeof count);
  }

 private:
  ipc::UniqueFd fd_;
};

}  // namespace bulkhead::cli::top
