// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/backend/object_verification.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>

#include "core/base/temporary_tree.h"
#include "core/supervisor/backend/test_loop.h"
#include "ipc/unique_fd.h"

namespace bulkhead::supervisor {
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

  TestLoop loop_;
  discovery::TemporaryTree tree_;
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
}  // namespace bulkhead::supervisor
