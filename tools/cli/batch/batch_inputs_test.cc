// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/batch/batch_inputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>

namespace bulkhead::cli::batch {
namespace {

using bulkhead::batch::Item;
using ::testing::ElementsAre;

TEST(BatchInputs, EachItemIsInOneShard) {
  const auto items = bulkhead::batch::PlanOutputs(
                         {"a", "b", "c", "d", "e", "f", "g"}, "", "png")
                         .value();
  std::set<std::string> seen;
  for (uint64_t number = 1; number <= 9; ++number) {
    const auto chosen = ItemsOf({number, 9}, items);
    EXPECT_EQ(chosen.size(), number <= 7 ? 1u : 0u);
    for (const Item& item : chosen) {
      EXPECT_TRUE(seen.insert(item.input).second);
    }
  }
  EXPECT_EQ(seen.size(), items.size());
  EXPECT_THAT(ItemsOf({2, 3}, items),
              ElementsAre(Item{"b", "b.png"}, Item{"e", "e.png"}));
}

TEST(BatchInputs, ParsesShards) {
  const auto shard = ParseShard("3/8");
  ASSERT_TRUE(shard);
  EXPECT_EQ(shard->number, 3u);
  EXPECT_EQ(shard->count, 8u);
  for (const char* wrong : {"", "/", "1", "1/", "/2", "0/2", "3/2", "-1/2",
                            "1/2/3", "1 /2", "a/b"}) {
    EXPECT_FALSE(ParseShard(wrong)) << wrong;
  }
}

TEST(BatchInputs, ReadsLists) {
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
}  // namespace bulkhead::cli::batch
