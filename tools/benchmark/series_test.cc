// SPDX-License-Identifier: Apache-2.0
#include "tools/benchmark/series.h"

#include <gtest/gtest.h>

namespace bulkhead::benchmark {
namespace {

TEST(Series, MedianIsTheMiddle) {
  EXPECT_DOUBLE_EQ((Series{"", "", {9, 1, 5}}).Median(), 5);
  EXPECT_DOUBLE_EQ((Series{"", "", {9, 1, 5, 6}}).Median(), 5.5);
  EXPECT_DOUBLE_EQ((Series{"", "", {}}).Median(), 0);
}

TEST(Series, RatiosAreTakenRoundByRound) {
  const Series ratio =
      Ratio("r", Series{"", "", {10, 30, 8}}, Series{"", "", {5, 10, 0}});
  EXPECT_EQ(ratio.values, (std::vector<double>{2, 3}));
}

TEST(Series, SoAreDifferences) {
  const Series difference =
      Difference("d", Series{"", "ms", {10, 30, 8}}, Series{"", "ms", {5, 10}});
  EXPECT_EQ(difference.values, (std::vector<double>{5, 20}));
  EXPECT_EQ(difference.unit, "ms");
}

}  // namespace
}  // namespace bulkhead::benchmark
