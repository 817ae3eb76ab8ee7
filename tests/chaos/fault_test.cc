// SPDX-License-Identifier: Apache-2.0
#include "tests/chaos/fault.h"

#include <gtest/gtest.h>

namespace bulkhead::tests {
namespace {

TEST(ParseFaultsTest, ReadsEveryWord) {
  const auto faults = ParseFaults(
      "# nothing\n\n"
      "at=packet:5 do=exit:7 lives=1,3-4 workers=2 chance=0.5 seed=9 # why\n"
      "at=probe do=hang\n");
  ASSERT_TRUE(faults) << faults.error();
  ASSERT_EQ(faults->size(), 2u);
  EXPECT_EQ((*faults)[0], (Fault{.at = Step::kPacket,
                                 .number = 5,
                                 .deed = Deed::kExit,
                                 .argument = 7,
                                 .lives = {{1, 1}, {3, 4}},
                                 .workers = {{2, 2}},
                                 .chance = 0.5,
                                 .seed = 9}));
  EXPECT_EQ((*faults)[1], (Fault{.at = Step::kProbe, .deed = Deed::kHang}));
}

TEST(ParseFaultsTest, NamesTheWordThatIsNone) {
  for (const char* word :
       {"at=nowhere", "do=nothing", "lives=", "lives=x", "lives=1-", "chance=?",
        "at=packet:x", "segfault", "why=not"}) {
    const auto faults = ParseFaults(word);
    ASSERT_FALSE(faults) << word;
    EXPECT_NE(faults.error().find(word), std::string::npos) << faults.error();
  }
}

TEST(FindFaultTest, HappensInItsLivesAlone) {
  const auto faults = ParseFaults("at=packet:5 do=abort lives=1-2").value();
  EXPECT_TRUE(FindFault(faults, {1, 1}, Step::kPacket, 5, 5));
  EXPECT_TRUE(FindFault(faults, {2, 7}, Step::kPacket, 5, 5));
  EXPECT_FALSE(FindFault(faults, {3, 1}, Step::kPacket, 5, 5));
  EXPECT_FALSE(FindFault(faults, {1, 1}, Step::kPacket, 4, 4));
  EXPECT_FALSE(FindFault(faults, {1, 1}, Step::kOpen, 5, 5));
}

TEST(FindFaultTest, HappensInItsWorkersAlone) {
  const auto faults = ParseFaults("at=open do=abort workers=2").value();
  EXPECT_FALSE(FindFault(faults, {1, 1}, Step::kOpen, 0, 0));
  EXPECT_TRUE(FindFault(faults, {1, 2}, Step::kOpen, 0, 0));
}

TEST(FindFaultTest, ChanceIsKeptAndTheSameEachTime) {
  const auto faults =
      ParseFaults("at=packet do=abort chance=0.1 seed=3").value();
  int drawn = 0;
  for (uint64_t count = 0; count < 10'000; ++count) {
    const auto find = [&](uint64_t life) {
      return FindFault(faults, {life, 1}, Step::kPacket, count, 0) != nullptr;
    };
    EXPECT_EQ(find(1), find(1));
    drawn += find(1);
  }
  EXPECT_NEAR(drawn, 1000, 150);
}

}  // namespace
}  // namespace bulkhead::tests
