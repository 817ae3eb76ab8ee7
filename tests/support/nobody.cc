// SPDX-License-Identifier: Apache-2.0
#include "tests/support/nobody.h"

#include <grp.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

namespace bulkhead::tests {

bool BecomeNobody(const std::vector<gid_t>& groups) {
  return setgroups(groups.size(), groups.data()) == 0 &&
         setresgid(kNobody, kNobody, kNobody) == 0 &&
         setresuid(kNobody, kNobody, kNobody) == 0;
}

void RunAsNobody(const std::vector<gid_t>& groups,
                 const std::function<void()>& body) {
  std::fflush(stdout);
  const pid_t pid = fork();
  if (pid == 0) {
    if (!BecomeNobody(groups)) _exit(2);
    // A process that changed its ids owns nothing below /proc otherwise.
    prctl(PR_SET_DUMPABLE, 1);
    body();
    std::fflush(stdout);
    _exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace bulkhead::tests
