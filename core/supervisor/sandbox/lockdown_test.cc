// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/sandbox/lockdown.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "core/supervisor/sandbox/bpf.h"

namespace bulkhead::sandbox {
namespace {

TEST(CompileLockdownTest, NobodyChangesWhatWasCompiled) {
  const auto lockdown = CompileLockdown(
      {}, {.object_path = "/opt/acme/libacme.so", .entry_symbol = "entry"},
      Forbidden::kKill);
  ASSERT_TRUE(lockdown) << lockdown.error();
  const int fd = lockdown->get();
  const off_t bytes = lseek(fd, 0, SEEK_END);
  ASSERT_GT(bytes, 0);
  EXPECT_NE(pwrite(fd, "x", 1, 0), 1);
  EXPECT_NE(ftruncate(fd, 0), 0);
  EXPECT_NE(ftruncate(fd, bytes + 1), 0);
}

}  // namespace
}  // namespace bulkhead::sandbox
