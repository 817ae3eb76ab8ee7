// SPDX-License-Identifier: Apache-2.0
#include "core/application/batch/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bulkhead::batch {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Plan, SortsAndTakesEachInputOnce) {
  const auto items =
      PlanOutputs({"b/x.mp4", "a.mp4", "B.mp4", "a.mp4"}, "", "png");
  ASSERT_TRUE(items) << items.error();
  EXPECT_THAT(*items, ElementsAre(Item{"B.mp4", "B.mp4.png"},
                                  Item{"a.mp4", "a.mp4.png"},
                                  Item{"b/x.mp4", "x.mp4.png"}));
}

TEST(Plan, KeepsTheDirectoriesBelowTheRoot) {
  for (const char* root : {"/media", "/media/", "/media/x/.."}) {
    const auto items =
        PlanOutputs({"/media/a/x.mp4", "/media/b/../b/x.mp4"}, root, "wav");
    ASSERT_TRUE(items) << items.error();
    EXPECT_EQ(items->at(0).output, "a/x.mp4.wav");
    EXPECT_EQ(items->at(1).output, "b/x.mp4.wav");
  }
  for (const char* input : {"/mediax/a.mp4", "/a.mp4", "/media/../a.mp4"}) {
    const auto outside = PlanOutputs({input}, "/media", "wav");
    ASSERT_FALSE(outside);
    EXPECT_THAT(outside.error().message(),
                AllOf(HasSubstr(input), HasSubstr("--relative-to")));
  }
}

TEST(Plan, RefusesOutputsThatAreInEachOthersWay) {
  struct Row {
    std::vector<std::string> inputs;
    std::string root;
  };
  for (const Row& row :
       {Row{{"a/x.mp4", "b/x.mp4"}, ""}, Row{{"a", "a.png/b"}, "."},
        Row{{"a/x", "a//x"}, "."}, Row{{".batch/x"}, "."}, Row{{"-"}, ""},
        Row{{"a/"}, ""}}) {
    const auto items = PlanOutputs(row.inputs, row.root, "png");
    ASSERT_FALSE(items) << row.inputs[0];
    EXPECT_EQ(items.error().code(), Code::kInvalidArgument);
    EXPECT_THAT(items.error().message(), HasSubstr(row.inputs[0]));
  }
  EXPECT_TRUE(PlanOutputs({".batchx/x", "a", "a.pngx/b"}, ".", "png"));
  for (const char* other : {"n//a/x", "n/b/../a/x"}) {
    EXPECT_THAT(PlanOutputs({"./n/a/x", other}, "", "png").error().message(),
                AllOf(HasSubstr("two names of one file"),
                      Not(HasSubstr("--relative-to"))));
  }
}

}  // namespace
}  // namespace bulkhead::batch
