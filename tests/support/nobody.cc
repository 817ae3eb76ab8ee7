// SPDX-License-Identifier: Apache-2.0
#include "tests/support/nobody.h"

#include <grp.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdio>

#include "ipc/testing/forked_child.h"

namespace bulkhead::tests {

bool BecomeNobody(const std::vector<gid_t>& groups) {
  return setgroups(groups.size(), groups.data()) == 0 &&
         setresgid(kNobody, kNobody, kNobody) == 0 &&
         setresuid(kNobody, kNobody, kNobody) == 0;
}

void RunAsNobody(const std::vector<gid_t>& groups,
                 const std::function<void()>& body) {
  ipc::ForkedChild child([&] {
    if (!BecomeNobody(groups)) return 2;
    // The kernel gives the files below /proc/self of a process that changed its
    // ids to root, and to the process itself only once it is dumpable again.
    prctl(PR_SET_DUMPABLE, 1);
    body();
    std::fflush(stdout);
    return testing::Test::HasFailure() ? 1 : 0;
  });
  EXPECT_EQ(child.Wait(), 0);
}

}  // namespace bulkhead::tests
