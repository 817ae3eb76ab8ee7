// SPDX-License-Identifier: Apache-2.0
//
// Kills an installer at each of its system calls in turn, with ptrace, so that
// the installer needs no code for the test. Whatever discovery finds afterwards
// must be complete, and the next call must clean up.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <set>

#include "core/base/testing/temporary_tree.h"
#include "tools/install/installation.h"
#include "tools/install/testing/testing_wheel.h"

namespace bulkhead::install {
namespace {

namespace fs = std::filesystem;

// The system calls that change a file system, or may do so.
bool Changes(long call) {
  switch (call) {
    case SYS_mkdir:
    case SYS_mkdirat:
    case SYS_rename:
    case SYS_renameat:
    case SYS_renameat2:
    case SYS_unlink:
    case SYS_unlinkat:
    case SYS_rmdir:
    case SYS_write:
    case SYS_fchmod:
    case SYS_syncfs:
    case SYS_fsync:
      return true;
    default:
      return false;
  }
}

enum class End { kKilled, kFinished, kCannotTrace };

// Runs `work` in a child and kills it just before change number `step`.
End RunAndKillAt(int step, const std::function<bool()>& work) {
  const pid_t child = fork();
  if (child == 0) {
    if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) _exit(99);
    raise(SIGSTOP);
    _exit(work() ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (!WIFSTOPPED(status)) return End::kCannotTrace;
  ptrace(PTRACE_SETOPTIONS, child, nullptr,
         PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
  for (int changes = 0;;) {
    ptrace(PTRACE_SYSCALL, child, nullptr, nullptr);
    waitpid(child, &status, 0);
    if (WIFEXITED(status)) {
      EXPECT_EQ(WEXITSTATUS(status), 0);
      return End::kFinished;
    }
    if (!WIFSTOPPED(status)) {
      ADD_FAILURE() << "died by itself: " << status;
      return End::kFinished;
    }
    __ptrace_syscall_info info = {};
    ptrace(PTRACE_GET_SYSCALL_INFO, child, sizeof(info), &info);
    if (info.op != PTRACE_SYSCALL_INFO_ENTRY ||
        !Changes(static_cast<long>(info.entry.nr))) {
      continue;
    }
    if (changes++ < step) continue;
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    return End::kKilled;
  }
}

std::set<std::string> DistInfos(const std::string& directory) {
  std::set<std::string> found;
  for (const auto& entry : fs::directory_iterator(directory)) {
    const std::string name = entry.path().filename();
    if (name.ends_with(".dist-info")) found.insert(name);
  }
  return found;
}

class Interruption : public testing::Test {
 protected:
  // Prefers a file system in memory: an installer waits for the disk, and this
  // test runs some thousand installers.
  static void SetUpTestSuite() {
    if (access("/dev/shm", W_OK) == 0) setenv("TEST_TMPDIR", "/dev/shm", 1);
  }

  // Kills `work` at each step. Each round begins with `before`; after the kill
  // discovery must find complete distributions only, and the next installation
  // must succeed.
  void KillEverywhere(const std::function<void()>& before,
                      const std::function<bool()>& work,
                      const std::set<std::string>& allowed,
                      bool discovered_stays = true) {
    int step = 0;
    for (;; ++step) {
      fs::remove_all(tree_.path());
      fs::create_directory(tree_.path());
      before();
      const End end = RunAndKillAt(step, work);
      if (end == End::kCannotTrace) GTEST_SKIP() << "ptrace is not allowed";
      const auto found = DistInfos(tree_.path());
      EXPECT_LE(found.size(), 1u) << "step " << step;
      for (const std::string& dist_info : found) {
        EXPECT_TRUE(allowed.contains(dist_info)) << dist_info;
        EXPECT_EQ(VerifyInstalled(tree_.path(), dist_info), "")
            << "step " << step;
      }
      EXPECT_FALSE(Uninstall("nobody", tree_.path())) << "it tidies up";
      if (discovered_stays && !found.empty()) {
        EXPECT_EQ(DistInfos(tree_.path()), found) << "step " << step;
      }
      ExpectInOrder(allowed, step);
      if (end == End::kFinished) break;
      if (HasFailure()) return;
    }
    EXPECT_GT(step, 10);
    RecordProperty("steps", step);
  }

  void ExpectInOrder(const std::set<std::string>& allowed, int step) {
    const auto found = DistInfos(tree_.path());
    EXPECT_TRUE(found.size() == 1 || allowed.contains("")) << "step " << step;
    for (const std::string& dist_info : found) {
      EXPECT_EQ(VerifyInstalled(tree_.path(), dist_info), "")
          << "step " << step;
    }
    if (found.empty()) {
      EXPECT_TRUE(fs::is_empty(tree_.path())) << "step " << step;
    }
    EXPECT_FALSE(fs::exists(tree_ / ".bulkhead-transaction"));

    const auto next = Install(new_, tree_.path());
    ASSERT_TRUE(next) << next.error() << ", step " << step;
    EXPECT_EQ(VerifyInstalled(tree_.path(), "acme-2.0.dist-info"), "");
    ASSERT_TRUE(Uninstall("acme", tree_.path()));
    EXPECT_TRUE(fs::is_empty(tree_.path())) << "step " << step;
  }

  TemporaryTree wheels_;
  TemporaryTree tree_;
  const std::string old_ = TestingWheel("acme", "1.0")
                               .Add("acme/first/a", "old")
                               .Add("acme/both", "old")
                               .Write(wheels_.path());
  const std::string new_ = TestingWheel("acme", "2.0")
                               .Add("acme/second/b", "new")
                               .Add("acme/both", "new")
                               .Write(wheels_.path());
};

TEST_F(Interruption, FirstInstallationIsAllOrNothing) {
  KillEverywhere([] {}, [&] { return bool(Install(new_, tree_.path())); },
                 {"acme-2.0.dist-info", ""});
}

TEST_F(Interruption, UpgradeIsOldOrNew) {
  KillEverywhere([&] { ASSERT_TRUE(Install(old_, tree_.path())); },
                 [&] { return bool(Install(new_, tree_.path())); },
                 {"acme-1.0.dist-info", "acme-2.0.dist-info"});
}

TEST_F(Interruption, UninstallIsAllOrNothing) {
  KillEverywhere([&] { ASSERT_TRUE(Install(new_, tree_.path())); },
                 [&] { return bool(Uninstall("acme", tree_.path())); },
                 {"acme-2.0.dist-info", ""}, /*discovered_stays=*/false);
}

TEST_F(Interruption, RecoveryMayBeInterruptedToo) {
  // Kills each upgrade between hiding the old version and showing the new one.
  int late = 0;
  const auto before = [&] {
    for (;; ++late) {
      ASSERT_TRUE(Install(old_, tree_.path()));
      const End end =
          RunAndKillAt(late, [&] { return bool(Install(new_, tree_.path())); });
      if (end == End::kCannotTrace) return;
      ASSERT_EQ(end, End::kKilled) << "it never is";
      if (DistInfos(tree_.path()).empty()) break;
    }
  };
  KillEverywhere(before,
                 [&] { return !Uninstall("nobody", tree_.path()).has_value(); },
                 {"acme-1.0.dist-info"});
}

}  // namespace
}  // namespace bulkhead::install
