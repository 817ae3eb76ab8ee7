// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/batch/batch_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>

namespace bulkhead::cli {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(BatchPlan, SortsAndTakesEachInputOnce) {
  const auto items =
      PlanBatch({"b/x.mp4", "a.mp4", "B.mp4", "a.mp4"}, "", "png");
  ASSERT_TRUE(items) << items.error();
  EXPECT_THAT(*items, ElementsAre(BatchItem{"B.mp4", "B.mp4.png"},
                                  BatchItem{"a.mp4", "a.mp4.png"},
                                  BatchItem{"b/x.mp4", "x.mp4.png"}));
}

TEST(BatchPlan, KeepsTheDirectoriesBelowTheRoot) {
  for (const char* root : {"/media", "/media/", "/media/x/.."}) {
    const auto items =
        PlanBatch({"/media/a/x.mp4", "/media/b/../b/x.mp4"}, root, "wav");
    ASSERT_TRUE(items) << items.error();
    EXPECT_EQ(items->at(0).output, "a/x.mp4.wav");
    EXPECT_EQ(items->at(1).output, "b/x.mp4.wav");
  }
  for (const char* input : {"/mediax/a.mp4", "/a.mp4", "/media/../a.mp4"}) {
    const auto outside = PlanBatch({input}, "/media", "wav");
    ASSERT_FALSE(outside);
    EXPECT_THAT(outside.error().message(),
                AllOf(HasSubstr(input), HasSubstr("--relative-to")));
  }
}

TEST(BatchPlan, RefusesOutputsThatAreInEachOthersWay) {
  struct Row {
    std::vector<std::string> inputs;
    std::string root;
  };
  for (const Row& row :
       {Row{{"a/x.mp4", "b/x.mp4"}, ""}, Row{{"a", "a.png/b"}, "."},
        Row{{"a/x", "a//x"}, "."}, Row{{".batch/x"}, "."}, Row{{"-"}, ""},
        Row{{"a/"}, ""}}) {
    const auto items = PlanBatch(row.inputs, row.root, "png");
    ASSERT_FALSE(items) << row.inputs[0];
    EXPECT_EQ(items.error().code(), Code::kInvalidArgument);
    EXPECT_THAT(items.error().message(), HasSubstr(row.inputs[0]));
  }
  EXPECT_TRUE(PlanBatch({".batchx/x", "a", "a.pngx/b"}, ".", "png"));
  for (const char* other : {"n//a/x", "n/b/../a/x"}) {
    EXPECT_THAT(PlanBatch({"./n/a/x", other}, "", "png").error().message(),
                AllOf(HasSubstr("two names of one file"),
                      Not(HasSubstr("--relative-to"))));
  }
}

TEST(BatchPlan, EachItemIsInOneShard) {
  const auto items =
      PlanBatch({"a", "b", "c", "d", "e", "f", "g"}, "", "png").value();
  std::set<std::string> seen;
  for (uint64_t number = 1; number <= 9; ++number) {
    const auto chosen = ItemsOf({number, 9}, items);
    EXPECT_EQ(chosen.size(), number <= 7 ? 1u : 0u);
    for (const BatchItem& item : chosen) {
      EXPECT_TRUE(seen.insert(item.input).second);
    }
  }
  EXPECT_EQ(seen.size(), items.size());
  EXPECT_THAT(ItemsOf({2, 3}, items),
              ElementsAre(BatchItem{"b", "b.png"}, BatchItem{"e", "e.png"}));
}

TEST(BatchPlan, ParsesShards) {
  const auto shard = ParseShard("3/8");
  ASSERT_TRUE(shard);
  EXPECT_EQ(shard->number, 3u);
  EXPECT_EQ(shard->count, 8u);
  for (const char* wrong : {"", "/", "1", "1/", "/2", "0/2", "3/2", "-1/2",
                            "1/2/3", "1 /2", "a/b"}) {
    EXPECT_FALSE(ParseShard(wrong)) << wrong;
  }
}

TEST(BatchPlan, ReadsLists) {
  const std::string path = testing::TempDir() + "/list";
  std::ofstream(path, std::ios::binary)
      << "a b\n\nc\nd" << std::string("\0e\nf\0\0g", 7);
  EXPECT_THAT(ReadList(path, false).value(),
              ElementsAre("a b", "c", std::string("d\0e", 3),
                          std::string("f\0\0g", 4)));
  EXPECT_THAT(ReadList(path, true).value(),
              ElementsAre("a b\n\nc\nd", "e\nf", "g"));
  EXPECT_EQ(ReadList(path + ".none", false).error().code(), Code::kNotFound);
  EXPECT_EQ(ReadList(testing::TempDir(), false).error().code(),
            Code::kInvalidArgument);
}

}  // namespace
}  // namespace bulkhead::cli
