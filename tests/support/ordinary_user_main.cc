// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "tests/support/nobody.h"
#include "tests/support/own_world.h"
#include "tests/support/test_paths.h"

namespace {

namespace fs = std::filesystem;

constexpr gid_t kFurtherGroup = 65533;

// Copies everything that the tests need to a directory that every user may
// read. Returns false after printing a message.
bool MoveIn(const fs::path& home) {
  using namespace bulkhead::tests;
  fs::permissions(home, fs::perms(0755));
  CopyForAll(LibexecDirectory(), home / "libexec");
  setenv("BULKHEAD_TEST_LIBEXEC_DIR", (home / "libexec").c_str(), 1);
  if (const std::string plugins = DistributionDirectory(); !plugins.empty()) {
    CopyForAll(plugins, home / "plugins");
    setenv("BULKHEAD_TEST_DISTRIBUTION_DIR", (home / "plugins").c_str(), 1);
  }
  const std::string chaos = "BULKHEAD_TEST_CHAOS";
  if (getenv(chaos.c_str()) != nullptr) {
    CopyForAll(DistributionDirectory(chaos), home / "chaos");
    setenv((chaos + "_DIR").c_str(), (home / "chaos").c_str(), 1);
  }
  const fs::path own = home / "tmp";
  fs::create_directory(own);
  setenv("TEST_TMPDIR", own.c_str(), 1);
  setenv("HOME", own.c_str(), 1);
  return chown(own.c_str(), kNobody, kNobody) == 0 && chdir("/") == 0;
}

int RunTests(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}

}  // namespace

// Started as root, runs the tests as the user "nobody", with one further group
// and with copies of the files they use. Started as another user, runs the
// tests directly.
int main(int argc, char** argv) {
  if (geteuid() != 0) {
    bulkhead::tests::EnterOwnWorld();
    return RunTests(argc, argv);
  }
  // Another user cannot write Bazel's output files, and Bazel does not need
  // them.
  GTEST_FLAG_SET(output, "");
  unsetenv("TEST_PREMATURE_EXIT_FILE");
  unsetenv("TEST_SHARD_STATUS_FILE");
  // Not below TEST_TMPDIR, whose parents other users may not be able to enter.
  char home[] = "/tmp/bulkhead-test-XXXXXX";
  if (mkdtemp(home) == nullptr || !MoveIn(home)) {
    std::perror(home);
    return 1;
  }
  bulkhead::tests::EnterOwnWorld();  // while it may
  const pid_t pid = fork();
  if (pid == 0) {
    if (!bulkhead::tests::BecomeNobody({kFurtherGroup})) {
      std::perror("cannot become an ordinary user");
      return 1;
    }
    return RunTests(argc, argv);
  }
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  fs::remove_all(home);
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  std::fprintf(stderr, "the tests were ended by signal %d\n", WTERMSIG(status));
  return 1;
}
