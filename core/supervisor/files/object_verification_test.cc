// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/files/object_verification.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <string>

#include "core/base/testing/temporary_tree.h"
#include "core/supervisor/testing/test_loop.h"
#include "ipc/unique_fd.h"

namespace bulkhead::files {
namespace {

constexpr char kHashOfAbc[] =
    "sha256=ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0";
// Of three million times "x".
constexpr char kHashOfMuch[] =
    "sha256=5VuL32Id2qj0YsdHRduWgNO7dTapz4VPjWZos0ooeJA";

class ObjectVerificationTest : public testing::Test {
 protected:
  ipc::UniqueFd Object(const std::string& contents) {
    tree_.Write("object", contents);
    return ipc::UniqueFd(
        open((tree_ / "object").c_str(), O_RDONLY | O_CLOEXEC));
  }

  Status Verify(const ipc::UniqueFd& object, const std::string& recorded) {
    return VerifyObject(loop_.port.getTimer(), object.get(), recorded)
        .wait(loop_.scope);
  }

  ipc::UniqueFd Copy(const ipc::UniqueFd& object) {
    return CopyObject(loop_.port.getTimer(), object.get())
        .wait(loop_.scope)
        .value();
  }

  supervisor::TestLoop loop_;
  TemporaryTree tree_;
};

TEST_F(ObjectVerificationTest, TheRecordedObjectPasses) {
  EXPECT_TRUE(Verify(Object("abc"), kHashOfAbc).ok());
  EXPECT_TRUE(Verify(Object(std::string(3'000'000, 'x')), kHashOfMuch).ok());
}

TEST_F(ObjectVerificationTest, AnotherObjectDoesNot) {
  const Status status = Verify(Object("abd"), kHashOfAbc);
  EXPECT_EQ(status.code(), Code::kBackendUnavailable);
  EXPECT_NE(status.message().find("RECORD differs"), std::string::npos);
}

TEST_F(ObjectVerificationTest, WhatIsNotRecordedIsNotCompared) {
  EXPECT_TRUE(Verify(Object("anything"), "").ok());
}

TEST_F(ObjectVerificationTest, WhatTheDescriptorShowsIsWhatCounts) {
  const ipc::UniqueFd object = Object("abc");
  std::filesystem::remove(tree_ / "object");
  tree_.Write("object", "something else");
  EXPECT_TRUE(Verify(object, kHashOfAbc).ok());
}

TEST_F(ObjectVerificationTest, AnObjectAboveTheLimitIsNotEvenRead) {
  const ipc::UniqueFd object = Object("");
  // A sparse file, which takes no room.
  const auto above = (uintmax_t{8} << 30) + 1;
  std::filesystem::resize_file(tree_ / "object", above);
  EXPECT_NE(Verify(object, kHashOfAbc).message().find("8 GiB"),
            std::string::npos);
}

TEST_F(ObjectVerificationTest, ACopyStaysWhatItWas) {
  const ipc::UniqueFd object = Object("abc");
  const ipc::UniqueFd copy = Copy(object);
  ASSERT_TRUE(copy);
  tree_.Write("object", "abd");
  EXPECT_FALSE(Verify(object, kHashOfAbc).ok());
  EXPECT_TRUE(Verify(copy, kHashOfAbc).ok());
  const std::string again = "/proc/self/fd/" + std::to_string(copy.get());
  const ipc::UniqueFd writable(open(again.c_str(), O_RDWR | O_CLOEXEC));
  EXPECT_EQ(pwrite(writable ? writable.get() : copy.get(), "x", 1, 0), -1);
  EXPECT_EQ(ftruncate(writable ? writable.get() : copy.get(), 0), -1);
  EXPECT_TRUE(Verify(copy, kHashOfAbc).ok());
}

TEST_F(ObjectVerificationTest, AnObjectIsCopiedWhole) {
  EXPECT_TRUE(
      Verify(Copy(Object(std::string(3'000'000, 'x'))), kHashOfMuch).ok());
}

TEST_F(ObjectVerificationTest, ALargeObjectIsNotCopied) {
  const ipc::UniqueFd object = Object("");
  std::filesystem::resize_file(tree_ / "object", (uintmax_t{32} << 20) + 1);
  EXPECT_FALSE(Copy(object));
}

TEST_F(ObjectVerificationTest, WhatThisProcessMayNotWriteIsNotCopied) {
  const ipc::UniqueFd object = Object("abc");
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small = {.rlim_cur = 2, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  EXPECT_FALSE(Copy(object));
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
}

TEST_F(ObjectVerificationTest, OthersGoOnMeanwhile) {
  const ipc::UniqueFd object = Object(std::string(3'000'000, 'x'));
  bool other_ran = false;
  auto verified = VerifyObject(loop_.port.getTimer(), object.get(), kHashOfMuch)
                      .then([&](Status status) {
                        EXPECT_TRUE(status.ok());
                        EXPECT_TRUE(other_ran);
                      })
                      .eagerlyEvaluate(nullptr);
  auto other = loop_.port.getTimer()
                   .afterDelay(0 * kj::SECONDS)
                   .then([&] { other_ran = true; })
                   .eagerlyEvaluate(nullptr);
  verified.wait(loop_.scope);
}

}  // namespace
}  // namespace bulkhead::files
