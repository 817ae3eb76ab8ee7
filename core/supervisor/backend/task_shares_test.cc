// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/backend/task_shares.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bulkhead::backend {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr uint64_t kLimit = 4096;
constexpr uint64_t kUsable = 3072;
constexpr uint64_t kProcessors = 2;

TEST(TaskShares, ManyTasksAreNothingAsLongAsOthersFindSome) {
  const TaskShares shares(kLimit, kProcessors);
  const std::vector<uint64_t> tasks = {2'000, 5,
                                       kUsable - 2'005 - shares.kRoom};
  EXPECT_FALSE(shares.AreUsedUp(tasks));
  EXPECT_THAT(shares.ToEnd(tasks), IsEmpty());
}

TEST(TaskShares, TheOneThatHasAllIsEnded) {
  const TaskShares shares(kLimit, kProcessors);
  EXPECT_TRUE(shares.AreUsedUp({5, 3'062, 5}));
  EXPECT_THAT(shares.ToEnd({5, 3'062, 5}), ElementsAre(1u));
  EXPECT_THAT(shares.ToEnd({3'072}), ElementsAre(0u));
}

TEST(TaskShares, ThoseWithMostAreEndedUntilThereIsRoom) {
  const TaskShares shares(kLimit, kProcessors);
  EXPECT_THAT(shares.ToEnd({1'000, 3, 1'060, 1'002, 3}), ElementsAre(2u));
  EXPECT_THAT(shares.ToEnd({2'000, 3, 2'500, 1'500, 3}), ElementsAre(2u, 0u));
}

TEST(TaskShares, WhereHonestWorkersAreTooManyNoneIsEnded) {
  const TaskShares shares(kLimit, kProcessors);
  const std::vector<uint64_t> honest(200, 16);
  EXPECT_TRUE(shares.AreUsedUp(honest));
  EXPECT_THAT(shares.ToEnd(honest), IsEmpty());
  // On a machine with many processors a decoder has many threads.
  const std::vector<uint64_t> large(50, 65);
  EXPECT_THAT(TaskShares(kLimit, 64).ToEnd(large), IsEmpty());
}

}  // namespace
}  // namespace bulkhead::backend
