// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/operators/top/scroll.h"

#include <gtest/gtest.h>

#include "tools/cli/operators/top/key.h"

namespace bulkhead::cli::top {
namespace {

TEST(ScrollTest, ShowsTheSelectedEntryAndFillsThePane) {
  Scroll scroll;
  scroll.Move(9, 10);
  scroll.Show(10, 4);
  EXPECT_EQ(scroll.first_shown(), 6u);
  scroll.Show(10, 8);
  EXPECT_EQ(scroll.first_shown(), 2u);
  scroll.Show(3, 8);
  EXPECT_EQ(scroll.selected(), 2u);
  EXPECT_EQ(scroll.first_shown(), 0u);
  scroll.Move(-5, 3);
  EXPECT_EQ(scroll.selected(), 0u);
  scroll.Move(1, 0);
  EXPECT_EQ(scroll.selected(), 0u);
}

TEST(ScrollTest, KeysMoveTheSelection) {
  Scroll scroll;
  EXPECT_TRUE(scroll.Press(kKeyEnd, 30, 10));
  EXPECT_EQ(scroll.selected(), 29u);
  EXPECT_TRUE(scroll.Press(kKeyPageUp, 30, 10));
  EXPECT_EQ(scroll.selected(), 19u);
  EXPECT_TRUE(scroll.Press('k', 30, 10));
  EXPECT_TRUE(scroll.Press(kKeyUp, 30, 10));
  EXPECT_EQ(scroll.selected(), 17u);
  EXPECT_TRUE(scroll.Press(kKeyPageDown, 30, 10));
  EXPECT_TRUE(scroll.Press('j', 30, 10));
  EXPECT_TRUE(scroll.Press(kKeyDown, 30, 10));
  EXPECT_EQ(scroll.selected(), 29u);
  for (const int key : {int{'x'}, int{kKeyEnter}, int{kKeyBack}, 0}) {
    EXPECT_FALSE(scroll.Press(key, 30, 10)) << key;
  }
  EXPECT_EQ(scroll.selected(), 29u);
  EXPECT_TRUE(scroll.Press(kKeyHome, 30, 10));
  EXPECT_EQ(scroll.selected(), 0u);
}

}  // namespace
}  // namespace bulkhead::cli::top
