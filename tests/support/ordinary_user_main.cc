// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "tests/support/nobody.h"
#include "tests/support/test_paths.h"

namespace {

namespace fs = std::filesystem;

constexpr gid_t kFurtherGroup = 65533;

// Everything that the tests need, in a directory that anybody may read. False:
// a message was printed.
bool MoveIn(const fs::path& home) {
  using namespace bulkhead::tests;
  fs::permissions(home, fs::perms(0755));
  CopyForAll(LibexecDirectory(), home / "libexec");
  setenv("BULKHEAD_TEST_LIBEXEC_DIR", (home / "libexec").c_str(), 1);
  if (const std::string plugins = DistributionDirectory(); !plugins.empty()) {
    CopyForAll(plugins, home / "plugins");
    setenv("BULKHEAD_TEST_DISTRIBUTION_DIR", (home / "plugins").c_str(), 1);
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

// As root: the tests run as the user "nobody", who is in a group besides, with
// copies of what they use. As anybody else: they run as they are.
int main(int argc, char** argv) {
  if (geteuid() != 0) return RunTests(argc, argv);
  // Bazel's files, which another user cannot write; it can do without.
  GTEST_FLAG_SET(output, "");
  unsetenv("TEST_PREMATURE_EXIT_FILE");
  unsetenv("TEST_SHARD_STATUS_FILE");
  // Not below TEST_TMPDIR, the way to which may be closed to others.
  char home[] = "/tmp/bulkhead-test-XXXXXX";
  if (mkdtemp(home) == nullptr || !MoveIn(home)) {
    std::perror(home);
    return 1;
  }
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
