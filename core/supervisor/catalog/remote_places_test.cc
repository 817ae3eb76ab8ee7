// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/catalog/remote_places.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <new>
#include <string>

namespace bulkhead::supervisor {
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
  RemotePlaces places_{
      [](const std::string& path) { return path.starts_with("/net"); }};
  Calls calls_;
};

TEST_F(RemotePlacesTest, AChildReadsARemoteDirectoryFirst) {
  EXPECT_TRUE(places_.Answers("/net/a", [&] { calls_.Count(); }));
  EXPECT_EQ(calls_.count(), 1);
  EXPECT_TRUE(places_.Answers("/home", [&] { calls_.Count(); }));
  EXPECT_EQ(calls_.count(), 1) << "it is not remote";
}

TEST_F(RemotePlacesTest, ADirectoryThatDoesNotAnswerDoesNotStopUs) {
  const auto hang = [&] {
    calls_.Count();
    for (;;) pause();
  };
  EXPECT_FALSE(places_.Answers("/net/a", hang));
  EXPECT_EQ(calls_.count(), 1);
  // It answers again, and it never concerned another one.
  EXPECT_TRUE(places_.Answers("/net/a", [] {}));
  EXPECT_TRUE(places_.Answers("/net/b", [] {}));
}

TEST_F(RemotePlacesTest, TheChildHasNoDescriptorOfOurs) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  EXPECT_TRUE(places_.Answers("/net/a", [&] {
    if (fcntl(ends[1], F_GETFD) < 0 && fcntl(2, F_GETFD) < 0) calls_.Count();
  }));
  EXPECT_EQ(calls_.count(), 1);
  close(ends[0]);
  close(ends[1]);
}

TEST(RemotePlaces, FileSystemsOfThisMachineAreNotRemote) {
  EXPECT_FALSE(RemotePlaces::IsRemote("/proc/self"));
  EXPECT_FALSE(RemotePlaces::IsRemote("/dev/shm"));
}

}  // namespace
}  // namespace bulkhead::supervisor
