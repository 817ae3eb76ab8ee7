// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/sandbox/mount_info.h"

#include <gtest/gtest.h>
#include <sys/sysmacros.h>

namespace bulkhead::sandbox {
namespace {

TEST(MountInfo, LinesWithAnyNumberOfTagsAreRead) {
  const auto mounts = ParseMountInfo(
      "30 24 0:27 /part /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 "
      "rw,nsdelegate\n"
      "cut off\n"
      "31 24 8:1 / /my\\040place\\134x rw shared:1 master:2 - ext4 /dev/sda1 "
      "rw\n");
  ASSERT_EQ(mounts.size(), 2u);
  EXPECT_EQ(mounts[0].root, "/part");
  EXPECT_EQ(mounts[0].point, "/sys/fs/cgroup");
  EXPECT_EQ(mounts[0].type, "cgroup2");
  EXPECT_TRUE(HasWord(mounts[0].options, "nsdelegate"));
  EXPECT_FALSE(HasWord(mounts[0].options, "delegate"));
  EXPECT_EQ(mounts[1].point, "/my place\\x");
  EXPECT_EQ(mounts[1].device, makedev(8, 1));
}

}  // namespace
}  // namespace bulkhead::sandbox
