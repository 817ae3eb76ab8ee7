// SPDX-License-Identifier: Apache-2.0
#include "tools/benchmark/table.h"

#include <gtest/gtest.h>

namespace bulkhead::benchmark {
namespace {

Table Sample() {
  return {
      .title = "Decoding",
      .rows = {{.of = {{"codec", "H.264"}, {"height", 480}},
                .series = {{"ours", "frames/s", {605, 610, 590}},
                           {"ratio", "x", {0.991}}}},
               {.of = {{"codec", "AV1"}, {"height", 2160}},
                .series = {{"ours", "frames/s", {5.25}}, {"ratio", "x", {}}}},
               {.of = {{"codec", "VP9"}, {"height", 4320}},
                .not_reached = "no encoder that would end today"}},
      .notes = {"Noisy."}};
}

TEST(Table, HasAlignedColumnsAndSaysWhyARowIsMissing) {
  EXPECT_EQ(TextOf(Sample()),
            "\n"
            "Decoding\n"
            "codec  height  ours, frames/s  ratio, x\n"
            "H.264  480      605 (590-610)     0.991\n"
            "AV1    2160              5.25         -\n"
            "VP9    4320    not reached: no encoder that would end today\n"
            "  Noisy.\n");
}

TEST(Table, FactsHaveEachValueOfEachRow) {
  const nlohmann::ordered_json facts = FactsOf(Sample());
  EXPECT_EQ(facts["title"], "Decoding");
  ASSERT_EQ(facts["rows"].size(), 3u);
  const auto& first = facts["rows"][0];
  EXPECT_EQ(first["of"]["codec"], "H.264");
  EXPECT_EQ(first["series"][0]["name"], "ours");
  EXPECT_EQ(first["series"][0]["median"], 605);
  EXPECT_EQ(first["series"][0]["values"].size(), 3u);
  EXPECT_FALSE(first.contains("not_reached"));
  const auto& last = facts["rows"][2];
  EXPECT_EQ(last["not_reached"], "no encoder that would end today");
  EXPECT_FALSE(last.contains("series"));
  EXPECT_EQ(facts["notes"], (std::vector<std::string>{"Noisy."}));
}

TEST(Table, RowsAreFoundByWhatTheyAreAbout) {
  Table table = Sample();
  SeriesOf(RowOf(table, {{"codec", "AV1"}, {"height", 2160}}), "ratio")
      .values.push_back(2);
  EXPECT_EQ(table.rows.size(), 3u);
  EXPECT_EQ(table.rows[1].series[1].values, std::vector<double>{2});
  RowOf(table, {{"codec", "AV1"}, {"height", 480}});
  EXPECT_EQ(table.rows.size(), 4u);
}

TEST(Table, WithoutRowsIsATitle) {
  EXPECT_EQ(TextOf(Table{.title = "Nothing"}), "\nNothing\n");
}

}  // namespace
}  // namespace bulkhead::benchmark
