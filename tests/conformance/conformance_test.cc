// SPDX-License-Identifier: Apache-2.0
//
// `bulkhead conformance` passes for sound backends, and names the clause for
// each of many that have one thing wrong.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "tests/conformance/wrong_installation.h"
#include "tests/support/program.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

using nlohmann::json;

constexpr std::chrono::minutes kLimit{5};

ProgramResult Conformance(const std::vector<std::string>& arguments) {
  std::vector<std::string> command = {PathFromEnvironment("BULKHEAD_TEST_CLI"),
                                      "conformance"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return RunProgram(
      command,
      {.environment = {{"BULKHEAD_LIBEXEC_DIR", LibexecDirectory()},
                       {"BULKHEAD_STATE_DIR", TemporaryDirectory() + "/state"}},
       .limit = kLimit});
}

json Parsed(const ProgramResult& result) {
  json report = json::parse(result.output, nullptr, false);
  EXPECT_TRUE(report.is_object()) << result.Describe();
  return report.is_object() ? report : json::object();
}

class SoundBackend : public testing::TestWithParam<const char*> {};

TEST_P(SoundBackend, Conforms) {
  const std::string junit = TemporaryDirectory() + "/" + GetParam() + ".xml";
  const ProgramResult result =
      Conformance({GetParam(), "--json", "--junit", junit});
  EXPECT_EQ(result.exit_code, 0) << result.Describe();
  const json report = Parsed(result);
  EXPECT_EQ(report["failed"], 0);
  // All clips of videos and of sound, and what is done with them.
  EXPECT_GE(report["passed"], 35) << result.Describe();
  for (const json& check : report["checks"]) {
    EXPECT_NE(check["clause_says"], "") << check;
  }
  std::ifstream file(junit);
  const std::string xml{std::istreambuf_iterator<char>(file), {}};
  EXPECT_NE(xml.find("failures=\"0\""), std::string::npos) << xml;
  EXPECT_NE(xml.find("name=\"decodes h264 [frame-10]\""), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Backends, SoundBackend,
                         testing::Values("cpu", "openreg"),
                         [](const auto& row) { return row.param; });

struct Wrong {
  const char* name;
  const char* clause;
};

void PrintTo(const Wrong& wrong, std::ostream* stream) {
  *stream << wrong.name;
}

class WrongBackend : public testing::TestWithParam<Wrong> {};

TEST_P(WrongBackend, FailsAndTheClauseIsNamed) {
  const std::string path = InstallWrong(GetParam().name);
  const ProgramResult result =
      Conformance({"wrong", "--codec", "h264,mpeg4", "--json", "--plugin-path",
                   path, "--limit", "open-ms=3000", "--limit", "seek-ms=3000",
                   "--limit", "frame-ms=3000"});
  const json report = Parsed(result);
  std::vector<std::string> clauses;
  for (const json& check : report["checks"]) {
    if (check["result"] != "failed") continue;
    clauses.push_back(check["clause"]);
    EXPECT_NE(check["clause_says"], "") << check;
    EXPECT_NE(check["words"], "") << check;
  }
  if (*GetParam().clause == '\0') {
    EXPECT_EQ(result.exit_code, 0) << result.Describe();
    EXPECT_TRUE(clauses.empty()) << result.Describe();
    return;
  }
  EXPECT_EQ(result.exit_code, 4) << result.Describe();
  EXPECT_NE(std::find(clauses.begin(), clauses.end(), GetParam().clause),
            clauses.end())
      << result.Describe();
}

INSTANTIATE_TEST_SUITE_P(
    Wrongs, WrongBackend,
    testing::Values(
        Wrong{"nothing", ""}, Wrong{"no_table", "life-1"},
        Wrong{"unsteady_devices", "device-2"},
        Wrong{"declares_too_much", "device-4"},
        Wrong{"takes_any_option", "open-3"}, Wrong{"says_nothing", "result-2"},
        Wrong{"wrong_pts", "frame-6"}, Wrong{"no_pts", "frame-6"},
        Wrong{"swapped_planes", "frame-10"}, Wrong{"wrong_picture", "frame-10"},
        Wrong{"narrow_rows", "frame-3"}, Wrong{"few_planes", "frame-2"},
        Wrong{"no_format", "frame-1"}, Wrong{"ignores_flush", "flush-1"},
        Wrong{"forgets_the_last", "send-3"}, Wrong{"reorders", "receive-1"},
        Wrong{"ends_early", "end-1"}, Wrong{"never_ready", "again-3"},
        Wrong{"unknown_result", "result-1"}, Wrong{"sleeps", "result-4"},
        Wrong{"crashes", "life-5"}, Wrong{"exits", "life-5"},
        Wrong{"loses_the_device", "life-5"},
        Wrong{"crashes_on_damage", "life-5"},
        Wrong{"starts_a_program", "life-3"},
        Wrong{"differs_with_threads", "life-4"},
        Wrong{"differs_after_a_crash", "life-4"},
        Wrong{"differs_when_opened_again", "close-1"},
        Wrong{"leaks_memory", "close-1"}, Wrong{"leaks_threads", "close-1"}),
    [](const auto& row) { return row.param.name; });

TEST(Conformance, SaysWhatIsWrongWithItsArguments) {
  const ProgramResult unknown = Conformance({"nobody"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_NE(unknown.errors.find("there is no backend nobody; there are: cpu"),
            std::string::npos)
      << unknown.Describe();
  const ProgramResult device = Conformance({"cpu", "--device", "npu"});
  EXPECT_EQ(device.exit_code, 2);
  EXPECT_NE(device.errors.find("has no device npu; it has cpu"),
            std::string::npos)
      << device.Describe();
  EXPECT_EQ(Conformance({"cpu", "--codec", "h266"}).exit_code, 2);
  EXPECT_EQ(Conformance({"cpu", "--media", "/no/such"}).exit_code, 2);
}

}  // namespace
}  // namespace bulkhead::tests
