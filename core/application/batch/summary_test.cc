// SPDX-License-Identifier: Apache-2.0
#include "core/application/batch/summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace bulkhead::batch {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Record PoisonOf(const std::string& input) {
  return {
      {"input", input},
      {"sha256", "5a5a"},
      {"error", {{"code", "kPoisonedInput"}, {"message", input + " kills"}}},
      {"damage", Record::array()},
      {"frames", 3},
      {"restarts", 2}};
}

TEST(Summary, NamesContentsThatKillWorkersOnceInWhateverOrderTheyComeIn) {
  // The second process that met them has reported it, died before it was heard,
  // and is asked once more.
  for (const bool first_is_told : {false, true}) {
    Summary summary(2);
    EXPECT_EQ(summary.CountResult(PoisonOf("b"), false), "b kills");
    EXPECT_EQ(summary.CountResult(PoisonOf("a"), first_is_told), "");
    const Record facts = summary.Facts();
    EXPECT_EQ(facts["poison"].dump(), R"(["5a5a"])");
    EXPECT_EQ(facts["failures"].size(), 1u);
    EXPECT_EQ(facts["copies_of_poison"], 1);
    EXPECT_EQ(facts["failed"], 2);
    EXPECT_EQ(facts["frames"], 3);
    EXPECT_EQ(facts["restarts"], 4);
    EXPECT_THAT(summary.codes(), ElementsAre(Code::kPoisonedInput));
  }
}

TEST(Summary, SaysWhatIsMissingInTheWordsOfTheCaller) {
  Summary summary(2);
  summary.CountLoss({"b", "b.png"}, Status(Code::kBackendLost, "b is lost"));
  EXPECT_THAT(summary.Lines("; call again"),
              ElementsAre(HasSubstr("0 of 2 files have results, 0 of them"),
                          "2 have no result; call again"));
  EXPECT_THAT(summary.ProgressLine(), HasSubstr("0/2 files, 0 frames/s"));
  EXPECT_EQ(summary.Facts()["lost"][0]["code"], "kBackendLost");
}

}  // namespace
}  // namespace bulkhead::batch
