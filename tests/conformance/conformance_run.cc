// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/conformance_run.h"

#include <gtest/gtest.h>

#include "tests/support/test_paths.h"

namespace bulkhead::tests {
ProgramResult RunConformance(const std::vector<std::string>& arguments) {
  std::vector<std::string> command = {PathFromEnvironment("BULKHEAD_TEST_CLI"),
                                      "conformance", "--clips",
                                      TemporaryDirectory() + "/clips"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return RunProgram(
      command,
      {.environment = {{"BULKHEAD_LIBEXEC_DIR", LibexecDirectory()},
                       {"BULKHEAD_GRANTS", GrantsOfReservedNames()},
                       {"BULKHEAD_STATE_DIR", TemporaryDirectory() + "/state"}},
       .limit = kLimitOfConformance});
}

nlohmann::json ReportOf(const ProgramResult& result) {
  nlohmann::json report = nlohmann::json::parse(result.output, nullptr, false);
  EXPECT_TRUE(report.is_object()) << result.Describe();
  return report.is_object() ? report : nlohmann::json::object();
}

}  // namespace bulkhead::tests
