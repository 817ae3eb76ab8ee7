// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

namespace bulkhead::sandbox {

// Keeps this process from opening any further descriptor, as long as the object
// lives. Open descriptors stay usable, and so does poll() with a few of them.
class NoDescriptorLeft {
 public:
  NoDescriptorLeft() {
    EXPECT_EQ(getrlimit(RLIMIT_NOFILE, &before_), 0);
    // dup() fails only if the standard descriptors, 0 to 2, are all in use.
    const rlimit standard = {.rlim_cur = 3, .rlim_max = before_.rlim_max};
    EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &standard), 0);
    EXPECT_EQ(dup(STDERR_FILENO), -1);
  }
  ~NoDescriptorLeft() { EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &before_), 0); }
  NoDescriptorLeft(const NoDescriptorLeft&) = delete;
  NoDescriptorLeft& operator=(const NoDescriptorLeft&) = delete;

 private:
  rlimit before_ = {};
};

}  // namespace bulkhead::sandbox
