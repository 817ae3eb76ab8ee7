// SPDX-License-Identifier: Apache-2.0
//
// Every mode of tools/bench that makes the page runs to its end, with one round
// of as little as possible, and has the rows that the page draws. What a
// machine lacks, such as a library to compare with, is a row that says so.
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "tests/support/program.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

using Json = nlohmann::json;

struct Outcome {
  Json facts;
  std::string text;
};

Outcome RunMode(const std::string& mode, bool has_peers = false) {
  const std::string json = TemporaryDirectory() + "/" + mode + ".json";
  std::vector<std::string> arguments = {
      PathFromEnvironment(("BULKHEAD_TEST_" + mode).c_str()),
      "--quick",
      "--json",
      json,
      "--commit",
      "c0ffee",
      "--libexec",
      LibexecDirectory()};
  if (has_peers) {
    arguments.insert(arguments.end(),
                     {"--script", PathFromEnvironment("BULKHEAD_TEST_PEERS")});
  }
  const ProgramResult result = RunProgram(
      arguments, {.environment = {{"XDG_CACHE_HOME", TemporaryDirectory()}}});
  EXPECT_EQ(result.exit_code, 0) << result.Describe();
  std::ifstream file(json);
  Outcome outcome{Json::parse(file, nullptr, false), result.output};
  EXPECT_EQ(outcome.facts.value("benchmark", ""), mode) << outcome.facts;
  EXPECT_EQ(outcome.facts.value("commit", ""), "c0ffee");
  EXPECT_EQ(outcome.facts.value("rounds", 0), 1);
  return outcome;
}

// Expects a table of this title in JSON and text, each row with a value in each
// series, or with the reason why not. Returns the rows with values.
std::vector<Json> MeasuredRows(const Outcome& outcome,
                               const std::string& title) {
  EXPECT_NE(outcome.text.find("\n" + title), std::string::npos) << outcome.text;
  std::vector<Json> measured;
  for (const Json& table : outcome.facts.at("tables")) {
    if (!table.at("title").get<std::string>().starts_with(title)) continue;
    for (const Json& row : table.at("rows")) {
      EXPECT_FALSE(row.at("of").empty());
      if (row.contains("not_reached")) {
        EXPECT_NE(row.at("not_reached"), "");
        continue;
      }
      for (const Json& series : row.at("series")) {
        EXPECT_FALSE(series.at("values").empty()) << row;
      }
      measured.push_back(row);
    }
  }
  return measured;
}

// Returns the different values that measured rows have for a key.
std::set<std::string> ValuesOf(const std::vector<Json>& rows,
                               const std::string& key) {
  std::set<std::string> values;
  for (const Json& row : rows) {
    const Json& value = row.at("of").at(key);
    values.insert(value.is_string() ? value.get<std::string>() : value.dump());
  }
  return values;
}

TEST(Modes, RingHasEveryMechanism) {
  const Outcome outcome = RunMode("ring");
  EXPECT_EQ(ValuesOf(MeasuredRows(outcome, "Round trip"), "mechanism"),
            (std::set<std::string>{"Cap'n Proto RPC", "eventfd pair", "futex",
                                   "spin", "the ring of a session"}));
  // An ordinary user may trace no worker.
  for (const Json& row : MeasuredRows(outcome, "System calls")) {
    EXPECT_LT(row.at("series")[0].at("median"), 20);
  }
}

TEST(Modes, MatrixHasBothOutputsAndNumbersOfThreads) {
  const std::vector<Json> rows =
      MeasuredRows(RunMode("matrix"), "Decoding in order");
  EXPECT_EQ(ValuesOf(rows, "threads"), (std::set<std::string>{"1", "2"}));
  EXPECT_EQ(ValuesOf(rows, "output"),
            (std::set<std::string>{"RGB24", "native"}));
  EXPECT_EQ(ValuesOf(rows, "codec"), (std::set<std::string>{"H.264"}));
}

TEST(Modes, OpeningHasItsAnchors) {
  const Outcome outcome = RunMode("opening", true);
  const std::set<std::string> decoders =
      ValuesOf(MeasuredRows(outcome, "Open, index"), "decoder");
  EXPECT_TRUE(decoders.contains("Bulkhead"));
  EXPECT_TRUE(decoders.contains("libav in process"));
  EXPECT_EQ(MeasuredRows(outcome, "Starts").size(), 2u);
}

TEST(Modes, ClipsHasItsAnchors) {
  const std::set<std::string> decoders =
      ValuesOf(MeasuredRows(RunMode("clips", true), "2 clips"), "decoder");
  EXPECT_TRUE(decoders.contains("Bulkhead"));
  EXPECT_TRUE(decoders.contains("libav in process"));
  EXPECT_TRUE(decoders.contains("one ffmpeg a clip"));
}

TEST(Modes, GrowthGrows) {
  const Outcome outcome = RunMode("growth");
  EXPECT_EQ(ValuesOf(MeasuredRows(outcome, "Backends"), "backends"),
            (std::set<std::string>{"1", "2"}));
  const bool may_read_memory = geteuid() == 0;
  if (!may_read_memory) return;
  EXPECT_EQ(MeasuredRows(outcome, "Sessions").size(), 4u);
  EXPECT_EQ(MeasuredRows(outcome, "Length").size(), 2u);
}

}  // namespace
}  // namespace bulkhead::tests
