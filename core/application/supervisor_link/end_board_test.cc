// SPDX-License-Identifier: Apache-2.0
#include "core/application/supervisor_link/end_board.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <utility>
#include <vector>

namespace bulkhead::supervisor_link {
namespace {

TEST(EndBoardTest, APlaceBelongsToOneSessionAndIsFreeAfterIt) {
  const std::shared_ptr<EndBoard> board = EndBoard::Create().value();
  std::vector<EndBoard::Place> places;
  std::set<uint32_t> numbers;
  for (uint32_t i = 0; i < kMostSessionEnds; ++i) {
    places.push_back(board->Take());
    ASSERT_TRUE(places.back());
    ASSERT_LT(places.back().number(), kMostSessionEnds);
    numbers.insert(places.back().number());
  }
  EXPECT_EQ(numbers.size(), kMostSessionEnds);
  EXPECT_FALSE(board->Take());

  const uint32_t freed = places[1'000].number();
  places[1'000] = EndBoard::Place();
  const EndBoard::Place again = board->Take();
  ASSERT_TRUE(again);
  EXPECT_EQ(again.number(), freed);
}

}  // namespace
}  // namespace bulkhead::supervisor_link
