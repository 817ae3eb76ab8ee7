// SPDX-License-Identifier: Apache-2.0
#include "core/application/batch/record.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

#include "core/base/testing/temporary_tree.h"

namespace bulkhead::batch {
namespace {

class Poison : public testing::Test {
 protected:
  // Writes the record of an input that kills workers, and returns the message
  // for a copy of it.
  std::string MessageForCopy(const std::string& input,
                             const std::string& message) {
    const Record record{
        {"input", input},
        {"bytes", 1},
        {"modified_ns", 2},
        {"sha256", "5a"},
        {"options", {}},
        {"output", nullptr},
        {"frames", nullptr},
        {"damage", Record::array()},
        {"restarts", 0},
        {"error", {{"code", "kPoisonedInput"}, {"message", message}}}};
    tree_.Write(".batch/poison/5a.json", LineOf(record));
    const auto found = records_.FindPoison(
        {"copy", "copy.png"}, {.bytes = 1, .modified_ns = 2}, "5a");
    return found ? found->at("error").at("message").get<std::string>() : "";
  }

  const TemporaryTree tree_;
  const std::unique_ptr<Directory> directory_ =
      Directory::Open(tree_.path()).value();
  const Records records_{*directory_, Record()};
};

TEST_F(Poison, IsNamedAsTheCopyWhereverItIsNamed) {
  EXPECT_EQ(MessageForCopy("b/a", "b/a: refused"), "copy: refused");
  EXPECT_EQ(MessageForCopy("b/a", "the worker died at b/a, at frame 3; b/a"),
            "the worker died at copy, at frame 3; copy");
  EXPECT_EQ(MessageForCopy("", "the worker died"), "the worker died");
}

TEST_F(Poison, OfSomebodyElseIsNotMadeLongByItsCopy) {
  const std::string message(1 << 20, 'a');
  EXPECT_LT(MessageForCopy("a", message).size(), message.size() + 100);
}

TEST(MakeRecord, NamesTheInputAsTheUserDidHoweverOften) {
  const Recipe recipe{.makers = Record::object()};
  const decoding::Outcome outcome{
      .status = Status(Code::kBadInput, "/b/a, /b/a: bad")};
  const Record record = MakeRecord({"a", "a.png"}, "/b/a", {}, std::nullopt,
                                   recipe, outcome, std::nullopt);
  EXPECT_EQ(record.at("error").at("message"), "a, a: bad");
}

}  // namespace
}  // namespace bulkhead::batch
