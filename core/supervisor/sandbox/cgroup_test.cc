// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/sandbox/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "core/base/testing/temporary_tree.h"
#include "core/supervisor/sandbox/read_text.h"
#include "ipc/testing/forked_child.h"

namespace bulkhead::sandbox {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kMounts[] =
    "24 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
    "35 24 0:30 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw\n";

// A directory tree that stands for a machine with cgroup version 2 in which
// this process is in /user.slice/app.scope.
class CgroupTreeTest : public testing::Test {
 protected:
  void SetUp() override {
    machine_.Write("proc/self/cgroup", "0::/user.slice/app.scope\n");
    machine_.Write("proc/self/mountinfo", kMounts);
    WriteDirectory("user.slice", "cpu memory pids", "memory pids");
    WriteDirectory("user.slice/app.scope", "memory pids", "");
  }

  void WriteDirectory(const std::string& path, const std::string& available,
                      const std::string& enabled) {
    machine_.Write(At(path) + "/cgroup.controllers", available + "\n");
    machine_.Write(At(path) + "/cgroup.subtree_control", enabled + "\n");
  }
  void Delegate(const std::string& path) {
    const std::string directory = machine_ / At(path);
    if (setxattr(directory.c_str(), "trusted.delegate", "1", 1, 0) != 0 &&
        setxattr(directory.c_str(), "user.delegate", "1", 1, 0) != 0) {
      GTEST_SKIP() << "this file system has no attributes to set";
    }
  }
  CgroupParent Find(const std::string& named = "") {
    return FindCgroupParent(named, machine_.path());
  }
  static std::string At(const std::string& path) {
    return "sys/fs/cgroup/" + path;
  }

  // Other users may go there.
  TemporaryTree machine_{"/tmp"};
};

TEST_F(CgroupTreeTest, WhatIsNotDelegatedIsNotUsed) {
  if (geteuid() != 0) GTEST_SKIP() << "the tree belongs to this user";
  const CgroupParent parent = Find();
  EXPECT_EQ(parent.directory, "");
  EXPECT_EQ(parent.mount, "/sys/fs/cgroup");
  EXPECT_THAT(parent.evidence, HasSubstr("/user.slice/app.scope"));
}

TEST_F(CgroupTreeTest, TheOneAboveIsUsedWhereItIsDelegated) {
  Delegate("user.slice");
  const CgroupParent parent = Find();
  EXPECT_EQ(parent.directory, machine_ / At("user.slice"));
  EXPECT_THAT(parent.controllers, ElementsAre("memory", "pids"));
  EXPECT_THAT(parent.evidence, HasSubstr("cgroup.subtree_control: cpu"));
}

TEST_F(CgroupTreeTest, ADirectoryOfThisUserCountsAsDelegatedButNotRoots) {
  if (geteuid() != 0) GTEST_SKIP() << "cannot be another user";
  fs::permissions(machine_.path(), fs::perms(0755));
  ASSERT_EQ(chown((machine_ / At("user.slice")).c_str(), 65534, 65534), 0);
  EXPECT_EQ(Find().directory, "");
  ASSERT_EQ(seteuid(65534), 0);
  const CgroupParent parent = Find();
  ASSERT_EQ(seteuid(0), 0);
  EXPECT_EQ(parent.directory, machine_ / At("user.slice"));
}

TEST_F(CgroupTreeTest, DelegatedWithoutLimitsForChildrenWillNotDo) {
  WriteDirectory("user.slice", "cpu memory pids", "");
  Delegate("user.slice");
  Delegate("user.slice/app.scope");
  const CgroupParent parent = Find();
  EXPECT_EQ(parent.directory, "");
  EXPECT_THAT(parent.evidence, HasSubstr("subtree_control: memory, pids, cpu"));
  EXPECT_EQ(ReadText(machine_ / At("user.slice/cgroup.subtree_control")), "");
}

TEST_F(CgroupTreeTest, WhatIsAboveAContainersMountIsNotLookedAt) {
  machine_.Write("proc/self/cgroup", "0::/\n");
  const CgroupParent parent = Find();
  EXPECT_EQ(parent.directory, "");
  EXPECT_THAT(parent.evidence, HasSubstr("this process' cgroup, /,"));
}

TEST_F(CgroupTreeTest, VersionOneAloneIsSaid) {
  machine_.Write("proc/self/cgroup", "4:memory:/\n1:name=systemd:/\n");
  machine_.Write("proc/self/mountinfo",
                 "35 24 0:30 / /sys/fs/cgroup/memory rw - cgroup cgroup rw\n");
  const CgroupParent parent = Find();
  EXPECT_EQ(parent.directory, "");
  EXPECT_EQ(parent.mount, "");
  EXPECT_THAT(parent.evidence, HasSubstr("not mounted"));
}

TEST_F(CgroupTreeTest, ANamedDirectoryIsUsedAndControllersAreAskedFor) {
  WriteDirectory("mine", "memory pids", "");
  const CgroupParent parent = Find("/sys/fs/cgroup/mine");
  EXPECT_EQ(parent.directory, machine_ / At("mine"));
  // The kernel would have made a list of what was written one by one.
  EXPECT_THAT(
      ReadText(machine_ / At("mine/cgroup.subtree_control")).value_or(""),
      HasSubstr("+"));
}

TEST_F(CgroupTreeTest, ANamedDirectoryThatIsNoCgroupIsRefused) {
  fs::create_directories(machine_ / "tmp/mine");
  const CgroupParent parent = Find("/tmp/mine");
  EXPECT_EQ(parent.directory, "");
  EXPECT_THAT(parent.evidence, HasSubstr("/tmp/mine"));
}

TEST_F(CgroupTreeTest, LimitsAreWrittenWhereThereIsAControllerForThem) {
  for (const char* file : {"memory.max", "memory.swap.max", "pids.max"}) {
    machine_.Write(std::string("life/") + file, "max\n");
  }
  Limits limits;
  limits.memory_bytes = 123456;
  limits.tasks = 77;
  CgroupParent parent{.directory = machine_.path(),
                      .controllers = {"memory"},
                      .mount = "",
                      .writable = true,
                      .evidence = ""};
  ASSERT_TRUE(WriteCgroupLimits(machine_ / "life", parent, limits).ok());
  const auto has = [&](const char* file) {
    return ReadText(machine_ / (std::string("life/") + file)).value_or("");
  };
  EXPECT_THAT(has("memory.max"), HasSubstr("123456"));
  EXPECT_THAT(has("memory.swap.max"), HasSubstr("0"));
  EXPECT_EQ(has("pids.max"), "max");
  parent.controllers.push_back("pids");
  ASSERT_TRUE(WriteCgroupLimits(machine_ / "life", parent, limits).ok());
  EXPECT_THAT(has("pids.max"), HasSubstr("77"));
}

TEST_F(CgroupTreeTest, ALimitThatCannotBeWrittenIsAFailure) {
  const CgroupParent parent{.directory = machine_.path(),
                            .controllers = {"pids"},
                            .mount = "",
                            .writable = true,
                            .evidence = ""};
  fs::create_directories(machine_ / "life");
  const Status status = WriteCgroupLimits(machine_ / "life", parent, Limits());
  EXPECT_EQ(status.code(), Code::kSandboxUnavailable);
  EXPECT_THAT(status.message(), HasSubstr("pids.max"));
}

TEST_F(CgroupTreeTest, EachKillForMemoryIsToldOnce) {
  machine_.Write("life/memory.events", "low 0\noom 0\noom_kill 0\n");
  Cgroup cgroup(machine_ / "life", ipc::UniqueFd());
  EXPECT_FALSE(cgroup.TakeOutOfMemoryKill());
  machine_.Write("life/memory.events", "low 0\noom 1\noom_kill 2\n");
  EXPECT_TRUE(cgroup.TakeOutOfMemoryKill());
  EXPECT_TRUE(cgroup.TakeOutOfMemoryKill());
  EXPECT_FALSE(cgroup.TakeOutOfMemoryKill());
}

TEST_F(CgroupTreeTest, AKillBecauseTheMachineRanOutIsNotItsOwn) {
  machine_.Write("life/memory.events", "low 0\noom 0\noom_kill 1\n");
  EXPECT_FALSE(
      Cgroup(machine_ / "life", ipc::UniqueFd()).TakeOutOfMemoryKill());
}

// A pipe that nobody writes to in place of the file that says whether somebody
// is left: whoever waits there waits for ever.
TEST_F(CgroupTreeTest, ItsEndWaitsForNobody) {
  const fs::path directory = machine_ / "life";
  fs::create_directory(directory);
  ASSERT_EQ(mkfifo((directory / "cgroup.events").c_str(), 0600), 0);
  Cgroup(directory, ipc::UniqueFd());
  EXPECT_TRUE(fs::exists(directory));
  fs::remove(directory / "cgroup.events");
  EXPECT_TRUE(Cgroup(directory, ipc::UniqueFd()).Remove());
  EXPECT_FALSE(fs::exists(directory));
}

// The machine's own hierarchy, with whatever controllers it has.
class CgroupTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::string mount = FindCgroupParent("").mount;
    if (mount.empty()) GTEST_SKIP() << "cgroup version 2 is not mounted";
    std::string made = mount + "/bulkhead-test-XXXXXX";
    if (mkdtemp(made.data()) == nullptr) {
      GTEST_SKIP() << "no cgroup can be made in " << mount << " by this user";
    }
    named_ = made;
    parent_ = FindCgroupParent(named_);
    std::printf("controllers: %zu; %s\n", parent_.controllers.size(),
                parent_.evidence.c_str());
  }
  void TearDown() override {
    if (!named_.empty()) {
      EXPECT_EQ(rmdir(named_.c_str()), 0) << "something was left in it";
    }
  }

  std::unique_ptr<Cgroup> Make() {
    auto made = Cgroup::Create(parent_, Limits());
    EXPECT_TRUE(made) << made.error();
    return std::move(*made);
  }

  std::string named_;
  CgroupParent parent_;
};

TEST_F(CgroupTest, WhoIsAdoptedIsInItAndItsChildrenToo) {
  const auto cgroup = Make();
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  ipc::ForkedChild child([&] {
    char go;
    (void)!read(ends[0], &go, 1);
    ipc::ForkedChild grandchild([&] {
      const auto own = ReadText("/proc/self/cgroup").value_or("");
      return own.find(fs::path(cgroup->directory()).filename()) ==
                     std::string::npos
                 ? 1
                 : 0;
    });
    return grandchild.Wait() == 0 ? 0 : 1;
  });
  EXPECT_TRUE(cgroup->Adopt(child.pid()).ok());
  EXPECT_EQ(write(ends[1], "", 1), 1);
  EXPECT_EQ(child.Wait(), 0);
  close(ends[0]);
  close(ends[1]);
}

TEST_F(CgroupTest, ItsEndKillsWhoIsLeftAndRemovesIt) {
  auto cgroup = Make();
  const std::string directory = cgroup->directory();
  ipc::ForkedChild child = ipc::ForkedChild::Sleeping();
  ASSERT_TRUE(cgroup->Adopt(child.pid()).ok());
  // Its process may not have ended yet.
  (void)cgroup->Remove();
  EXPECT_EQ(child.Wait(), SIGKILL);
  cgroup.reset();
  EXPECT_FALSE(fs::exists(directory));
}

TEST_F(CgroupTest, OfDeadOwnersItIsRemovedWithWhoIsLeftButNotOfLivingOnes) {
  const auto living = Make();
  ipc::ForkedChild owner([&] {
    auto dead = Make();
    (void)!dead.release();
    return 0;
  });
  EXPECT_EQ(owner.Wait(), 0);
  std::string stale;
  for (const auto& entry : fs::directory_iterator(named_)) {
    if (entry.is_directory() && entry.path() != living->directory()) {
      stale = entry.path();
    }
  }
  ASSERT_NE(stale, "");
  ipc::ForkedChild left = ipc::ForkedChild::Sleeping();
  std::ofstream(stale + "/cgroup.procs") << left.pid() << std::flush;
  RemoveStaleCgroups(parent_);
  EXPECT_EQ(left.Wait(), SIGKILL);
  EXPECT_FALSE(fs::exists(stale));
  EXPECT_TRUE(fs::exists(living->directory()));
}

TEST_F(CgroupTest, WhatIsGoneIsAFailure) {
  CgroupParent gone = parent_;
  gone.directory += "/gone";
  const auto made = Cgroup::Create(gone, Limits());
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code(), Code::kSandboxUnavailable);
}

}  // namespace
}  // namespace bulkhead::sandbox
