// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/sandbox/new_root.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "ipc/testing/forked_child.h"
#include "ipc/unique_fd.h"

namespace bulkhead::sandbox {
namespace {

constexpr int kNoNamespaces = 2;  // the exit status where the kernel refuses

// Enters a user namespace with this user's ids, and a mount namespace.
bool EnterMountNamespace() {
  const std::string uid = std::to_string(geteuid());
  const std::string gid = std::to_string(getegid());
  if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
  std::ofstream("/proc/self/setgroups") << "deny";
  std::ofstream("/proc/self/uid_map") << uid << " " << uid << " 1";
  std::ofstream("/proc/self/gid_map") << gid << " " << gid << " 1";
  return true;
}

TEST(NewRootTest, FailsWhereACopyCannotBeMadeAlsoOfAnEmptyFile) {
  const ipc::UniqueFd empty(memfd_create("empty", MFD_CLOEXEC));
  const VisiblePath copy = {.path = "/copy",
                            .kind = VisiblePath::Kind::kFile,
                            .target = "",
                            .identity = std::nullopt,
                            .contents = empty.get()};
  // The second copy finds a file in its place.
  const std::vector<VisiblePath> twice = {copy, copy};
  ipc::ForkedChild child([&] {
    if (!EnterMountNamespace()) return kNoNamespaces;
    const auto mounts = OpenVisible(twice);
    if (!mounts) return kNoNamespaces;
    const Status entered = EnterNewRoot(twice, *mounts);
    return entered.message().starts_with("cannot copy /copy") ? 0 : 1;
  });
  const int status = child.Wait();
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == kNoNamespaces) {
    GTEST_SKIP() << "no user namespaces here";
  }
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace bulkhead::sandbox
