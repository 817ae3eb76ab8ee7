// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <atomic>

#include "core/include/bulkhead/status.h"

namespace bulkhead::supervisor_link {

// Says whether the calling process is a fork() of the process that made the
// mark, and so shares descriptors and memory that belong to its parent.
//
// The mark is a page that fork() leaves empty (MADV_WIPEONFORK). Reading it
// costs one load, and recognises even a child that has the same pid in another
// pid namespace. Thread-safe.
class ForkMark {
 public:
  ForkMark();
  ~ForkMark();
  ForkMark(const ForkMark&) = delete;
  ForkMark& operator=(const ForkMark&) = delete;

  bool forked() const;

 private:
  std::atomic<bool>* mark_;  // null if there is no page; compare pids then
  const pid_t owner_;
};

// Returns the error of a Host or a decoder that is used in a fork().
Status ForkedError();

}  // namespace bulkhead::supervisor_link
