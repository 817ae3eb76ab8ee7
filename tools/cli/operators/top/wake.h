// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>

#include "ipc/unique_fd.h"

namespace bulkhead::cli::top {

// A descriptor that wakes a thread from poll(). Any thread may call Signal(),
// which makes fd() readable. The waiting thread uses fd() and Clear(), which
// makes fd() unreadable again.
class Wake {
 public:
  Wake() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

  int fd() const { return fd_.get(); }
  void Signal() const {
    const uint64_t one = 1;
    // write() fails only if the counter is at its maximum, where fd() is
    // readable anyway.
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
