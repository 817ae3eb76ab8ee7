// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/sandbox/memory_limit.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <optional>

#include "ipc/unique_fd.h"

namespace bulkhead::sandbox {
namespace {

constexpr rlim_t kMost = rlim_t{1} << 30;

// A process with that limit. Killed with the object.
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
  const LimitedProcess process({{kMost, kMost}});
  EXPECT_TRUE(CheckDataLimit(process.pidfd(), kMost).ok());
  EXPECT_TRUE(CheckDataLimit(process.pidfd(), kMost + 1).ok());
}

TEST(MemoryLimitTest, MoreIsRefused) {
  const LimitedProcess process({{kMost, kMost}});
  EXPECT_EQ(CheckDataLimit(process.pidfd(), kMost - 1).code(),
            Code::kSandboxUnavailable);
}

TEST(MemoryLimitTest, ALimitThatCanBeRaisedIsRefused) {
  const LimitedProcess process({{kMost, RLIM_INFINITY}});
  EXPECT_EQ(CheckDataLimit(process.pidfd(), kMost).code(),
            Code::kSandboxUnavailable);
}

TEST(MemoryLimitTest, NoLimitIsRefused) {
  rlimit own = {};
  getrlimit(RLIMIT_DATA, &own);
  if (own.rlim_max != RLIM_INFINITY) GTEST_SKIP() << "this process has one";
  const LimitedProcess process(std::nullopt);
  EXPECT_EQ(CheckDataLimit(process.pidfd(), UINT64_MAX).code(),
            Code::kSandboxUnavailable);
}

TEST(MemoryLimitTest, AProcessThatEndedIsLost) {
  LimitedProcess process({{kMost, kMost}});
  EXPECT_GT(DataBytesOf(process.pidfd()), 0u);
  process.Kill();
  EXPECT_EQ(CheckDataLimit(process.pidfd(), kMost).code(), Code::kBackendLost);
  EXPECT_EQ(DataBytesOf(process.pidfd()), 0u);
}

}  // namespace
}  // namespace bulkhead::sandbox
