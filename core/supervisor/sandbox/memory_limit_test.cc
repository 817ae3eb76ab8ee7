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

// A process with the given limit, killed when the object is destroyed.
class LimitedProcess {
 public:
  explicit LimitedProcess(const std::optional<rlimit>& limit) {
    std::array<int, 2> ends = {};
    if (pipe(ends.data()) != 0) return;
    const ipc::UniqueFd read_end(ends[0]);
    ipc::UniqueFd write_end(ends[1]);
    pid_ = fork();
    if (pid_ == 0) {
      if (limit && setrlimit(RLIMIT_DATA, &*limit) != 0) _exit(1);
      if (write(write_end.get(), "r", 1) != 1) _exit(1);
      while (true) pause();
    }
    pidfd_ = ipc::UniqueFd(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));
    write_end.reset();
    char ready;
    EXPECT_EQ(read(read_end.get(), &ready, 1), 1);
  }
  ~LimitedProcess() { Kill(); }
  LimitedProcess(const LimitedProcess&) = delete;
  LimitedProcess& operator=(const LimitedProcess&) = delete;

  void Kill() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  int pidfd() const { return pidfd_.get(); }

 private:
  pid_t pid_ = 0;
  ipc::UniqueFd pidfd_;
};

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
