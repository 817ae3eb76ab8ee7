// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/sandbox/memory_limit.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <optional>

#include "ipc/testing/forked_child.h"

namespace bulkhead::sandbox {
namespace {

constexpr rlim_t kMost = rlim_t{1} << 30;

// Starts a process under `limit`, or under the limit of this process.
ipc::ForkedChild StartLimited(const std::optional<rlimit>& limit) {
  return ipc::ForkedChild::Prepared([&] {
    if (limit && setrlimit(RLIMIT_DATA, &*limit) != 0) _exit(1);
  });
}

TEST(MemoryLimitTest, AProcessWithThatLimitIsFine) {
  const ipc::ForkedChild process = StartLimited({{kMost, kMost}});
  EXPECT_TRUE(CheckDataLimit(process.pidfd(), kMost).ok());
  EXPECT_TRUE(CheckDataLimit(process.pidfd(), kMost + 1).ok());
}

TEST(MemoryLimitTest, MoreIsRefused) {
  const ipc::ForkedChild process = StartLimited({{kMost, kMost}});
  EXPECT_EQ(CheckDataLimit(process.pidfd(), kMost - 1).code(),
            Code::kSandboxUnavailable);
}

TEST(MemoryLimitTest, ALimitThatCanBeRaisedIsRefused) {
  const ipc::ForkedChild process = StartLimited({{kMost, RLIM_INFINITY}});
  EXPECT_EQ(CheckDataLimit(process.pidfd(), kMost).code(),
            Code::kSandboxUnavailable);
}

TEST(MemoryLimitTest, NoLimitIsRefused) {
  rlimit own = {};
  getrlimit(RLIMIT_DATA, &own);
  if (own.rlim_max != RLIM_INFINITY) GTEST_SKIP() << "this process has one";
  const ipc::ForkedChild process = StartLimited(std::nullopt);
  EXPECT_EQ(CheckDataLimit(process.pidfd(), UINT64_MAX).code(),
            Code::kSandboxUnavailable);
}

TEST(MemoryLimitTest, AProcessThatEndedIsLost) {
  ipc::ForkedChild process = StartLimited({{kMost, kMost}});
  EXPECT_GT(DataBytesOf(process.pidfd()), 0u);
  process.Kill();
  EXPECT_EQ(CheckDataLimit(process.pidfd(), kMost).code(), Code::kBackendLost);
  EXPECT_EQ(DataBytesOf(process.pidfd()), 0u);
}

}  // namespace
}  // namespace bulkhead::sandbox
