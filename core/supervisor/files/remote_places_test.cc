// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/files/remote_places.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <memory>
#include <new>
#include <string>

#include "core/base/testing/temporary_tree.h"
#include "core/supervisor/testing/test_loop.h"

namespace bulkhead::files {
namespace {

// Counts the calls in this process and its children.
class Calls {
 public:
  Calls()
      : count_(new (mmap(nullptr, sizeof(std::atomic<int>),
                         PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
                         0)) std::atomic<int>(0)) {}
  ~Calls() { munmap(count_, sizeof(*count_)); }
  void Count() { ++*count_; }
  int count() const { return *count_; }

 private:
  std::atomic<int>* const count_;
};

class RemotePlacesTest : public testing::Test {
 protected:
  // kj's destructors may throw, and a test fixture's may not.
  ~RemotePlacesTest() noexcept override {}

  bool Ask(const std::string& path, const std::function<void()>& read) {
    return places_.Ask(path, read).wait(loop_.scope);
  }

  supervisor::TestLoop loop_;
  RemotePlaces places_{loop_.port, [](const std::string& path) {
                         return path.starts_with("/net");
                       }};
  Calls calls_;
};

TEST_F(RemotePlacesTest, AChildReadsARemoteDirectoryFirst) {
  EXPECT_FALSE(places_.Answered("/net/a")) << "it was not asked";
  EXPECT_TRUE(Ask("/net/a", [&] { calls_.Count(); }));
  EXPECT_EQ(calls_.count(), 1);
  EXPECT_TRUE(places_.Answered("/net/a"));
  EXPECT_TRUE(Ask("/home", [&] { calls_.Count(); }));
  EXPECT_EQ(calls_.count(), 1) << "it is not remote";
  EXPECT_TRUE(places_.Answered("/home"));
}

TEST_F(RemotePlacesTest, ADirectoryThatDoesNotAnswerDelaysNobodyElse) {
  const auto hang = [&] {
    calls_.Count();
    for (;;) pause();
  };
  auto first = places_.Ask("/net/a", hang);
  auto joined = places_.Ask("/net/a", hang);
  EXPECT_TRUE(Ask("/net/b", [] {}));
  EXPECT_FALSE(first.poll(loop_.scope)) << "another one was late";
  EXPECT_FALSE(first.wait(loop_.scope));
  EXPECT_FALSE(joined.wait(loop_.scope));
  EXPECT_EQ(calls_.count(), 1);
  EXPECT_FALSE(places_.Answered("/net/a"));
  EXPECT_FALSE(Ask("/net/a", [&] { calls_.Count(); }));
  EXPECT_EQ(calls_.count(), 1) << "it was asked again at once";
}

TEST_F(RemotePlacesTest, ASlowAnswerIsAwaitedWhileItGoesOn) {
  // bound: a slow server; together it takes longer than the patience.
  const auto slow = [&] {
    for (int i = 0; i < 50; ++i) ::poll(nullptr, 0, 50);
    calls_.Count();
  };
  EXPECT_TRUE(Ask("/net/a", slow));
  EXPECT_EQ(calls_.count(), 1);
}

TEST_F(RemotePlacesTest, TheChildHasNoDescriptorOfOurs) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  EXPECT_TRUE(Ask("/net/a", [&] {
    if (fcntl(ends[1], F_GETFD) < 0 && fcntl(2, F_GETFD) < 0) calls_.Count();
  }));
  EXPECT_EQ(calls_.count(), 1);
  close(ends[0]);
  close(ends[1]);
}

class MountedPlaces : public testing::Test {
 protected:
  ~MountedPlaces() noexcept override {}

  supervisor::TestLoop loop_;
  const RemotePlaces places_{loop_.port};
};

TEST_F(MountedPlaces, FileSystemsOfThisMachineAreNotRemote) {
  EXPECT_TRUE(places_.Answered("/proc/self"));
  EXPECT_TRUE(places_.Answered("/dev/shm"));
}

TEST_F(MountedPlaces, LinksThatLeadNowhereAreFollowedToTheirEnd) {
  const TemporaryTree tree;
  std::filesystem::create_symlink("b", tree.path() + "/a");
  std::filesystem::create_symlink("a", tree.path() + "/b");
  std::filesystem::create_symlink("../../x//y", tree.path() + "/c");
  for (const char* name : {"/a", "/a/d", "/c", "/c/", "/none/../d", ""}) {
    EXPECT_TRUE(places_.Answered(tree.path() + name)) << name;
  }
}

}  // namespace
}  // namespace bulkhead::files
