// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/operators/top/crash_list_pane.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "tools/cli/operators/top/key.h"

namespace bulkhead::cli::top {
namespace {

using ::testing::StartsWith;

TEST(CrashListPaneTest, TheLatestIsTheFirst) {
  std::vector<Crash> crashes(30);
  for (size_t i = 0; i < crashes.size(); ++i) crashes[i].number = i + 1;
  CrashListPane pane("30 records", crashes);
  EXPECT_EQ(pane.selected()->number, 30u);
  auto lines = pane.Draw(10, 40);
  ASSERT_EQ(lines.size(), 10u);
  EXPECT_THAT(lines[0].text, StartsWith("30 records"));
  EXPECT_THAT(lines[1].text, StartsWith(">    30 "));
  EXPECT_TRUE(lines[1].selected);
  EXPECT_THAT(lines[9].text, StartsWith("     22 "));
  EXPECT_TRUE(pane.Press(kKeyPageDown, 10));
  EXPECT_EQ(pane.selected()->number, 21u);
  lines = pane.Draw(10, 40);
  EXPECT_THAT(lines[9].text, StartsWith(">    21 "));
  EXPECT_FALSE(pane.Press(kKeyEnter, 10));
}

TEST(CrashListPaneTest, WithoutRecordsNoneIsSelected) {
  CrashListPane pane;
  EXPECT_TRUE(pane.Press(kKeyDown, 10));
  EXPECT_EQ(pane.selected(), nullptr);
  EXPECT_EQ(pane.Draw(10, 40).size(), 10u);
}

}  // namespace
}  // namespace bulkhead::cli::top
