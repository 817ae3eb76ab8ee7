// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <atomic>

namespace bulkhead {

// Tells whether the process that asks is a fork() of the one that made it, and
// so shares descriptors and memory that are not its own.
//
// A page that fork() leaves empty (MADV_WIPEONFORK): asking costs one read, and
// a child whose pid is the same in another pid namespace is told apart too.
// Thread-safe.
class ForkMark {
 public:
  ForkMark();
  ~ForkMark();
  ForkMark(const ForkMark&) = delete;
  ForkMark& operator=(const ForkMark&) = delete;

  bool forked() const;

 private:
  std::atomic<bool>* mark_;  // null: there was no page, and pids must do
  const pid_t owner_;
};

}  // namespace bulkhead
