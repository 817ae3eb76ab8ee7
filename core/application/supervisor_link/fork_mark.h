// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <atomic>

#include "core/include/bulkhead/status.h"

namespace bulkhead::supervisor_link {

// A mark by which a process finds out that it is a forked child of the process
// that made the mark. Such a child has copies of its parent's descriptors, and
// must not use them.
//
// The mark is a page of memory that the kernel clears in the child
// (MADV_WIPEONFORK). Reading it costs one load. Unlike a comparison of pids, it
// works even if the child, in another pid namespace, has its parent's pid.
// Thread-safe.
class ForkMark {
 public:
  ForkMark();
  ~ForkMark();
  ForkMark(const ForkMark&) = delete;
  ForkMark& operator=(const ForkMark&) = delete;

  // Returns whether the calling process is a forked child of the process that
  // made the mark.
  bool forked() const;

 private:
  // The mark in its page. Null without MADV_WIPEONFORK; forked() then
  // compares pids.
  std::atomic<bool>* mark_;
  const pid_t owner_;
};

// Returns the error of a Host or a decoder that is used in a forked child.
Status ForkedError();

}  // namespace bulkhead::supervisor_link
