// SPDX-License-Identifier: Apache-2.0
#include "tests/discovery/importlib_oracle.h"

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

#include "tests/support/program.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

using Json = nlohmann::json;

std::vector<OracleEntry> Entries(const Json& json) {
  std::vector<OracleEntry> entries;
  for (const Json& each : json) {
    OracleEntry& answer = entries.emplace_back();
    answer.entry.group = each["group"];
    answer.entry.name = each["name"];
    answer.entry.value = each["value"];
    if (!each.contains("module")) continue;
    answer.valid = true;
    answer.entry.module = each["module"];
    answer.entry.attr = each["attr"];
    answer.entry.extras = each["extras"].get<std::vector<std::string>>();
    answer.identifiers = each["identifiers"];
  }
  return entries;
}

OracleFile File(const Json& json) {
  if (json.is_string()) return {json, {}};
  return {"", Entries(json)};
}

OracleTree Tree(const Json& json) {
  OracleTree tree;
  if (json.is_string()) {
    tree.exception = json;
    return tree;
  }
  for (const Json& each : json) {
    const Json& version = each["version"];
    tree.distributions.push_back(
        {each["folder"],
         version.is_string() ? version.get<std::string>() : std::string(),
         Entries(each["entries"])});
  }
  return tree;
}

// Python 3.10 is the first version that reads these files without help.
// Python 3.15 and later refuse to list a file with one invalid value.
bool IsComparable(const std::vector<int>& version) {
  return version >= std::vector<int>{3, 10} &&
         version < std::vector<int>{3, 15};
}

}  // namespace

std::optional<OracleAnswers> AskImportlib(const std::string& directory,
                                          const OracleQuestions& questions,
                                          std::string& reason) {
  Json cases = {{"files", questions.files}, {"trees", questions.trees}};
  if (questions.characters) cases["characters"] = true;
  std::ofstream(directory + "/cases.json") << cases;

  const std::string script = PathFromEnvironment("BULKHEAD_TEST_ORACLE");
  // Isolated from site packages and the user's variables, which also starts
  // faster.
  const ProgramResult result =
      RunProgram({"python3", "-I", "-S", "-B", script, directory},
                 {.limit = std::chrono::seconds(100)});
  if (!result.started || result.exit_code == 127) {
    reason = "there is no python3: " + result.Describe();
    return std::nullopt;
  }
  const Json json = Json::parse(result.output, nullptr, false);
  if (json.is_discarded()) {
    ADD_FAILURE() << result.Describe();
    reason = "python3 failed";
    return std::nullopt;
  }
  const auto version = json["version"].get<std::vector<int>>();
  OracleAnswers answers;
  answers.python =
      std::to_string(version[0]) + "." + std::to_string(version[1]);
  if (!IsComparable(version)) {
    reason = "python3 is " + answers.python + ", and 3.10 to 3.14 are known";
    return std::nullopt;
  }
  for (const Json& file : json["files"]) answers.files.push_back(File(file));
  for (const Json& tree : json["trees"]) answers.trees.push_back(Tree(tree));
  if (questions.characters) answers.characters = json["characters"];
  return answers;
}

}  // namespace bulkhead::tests
