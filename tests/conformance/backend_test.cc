// SPDX-License-Identifier: Apache-2.0
//
// `bulkhead conformance` passes for an installed distribution: what each
// bulkhead_backend_test runs.

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/conformance/conformance_run.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

using nlohmann::json;

std::string Variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

TEST(Backend, Conforms) {
  const std::string junit = TemporaryDirectory() + "/report.xml";
  std::vector<std::string> arguments = {Variable("BULKHEAD_TEST_BACKEND"),
                                        "--plugin-path",
                                        DistributionDirectory(),
                                        "--json",
                                        "--junit",
                                        junit};
  for (const auto& [option, variable] :
       {std::pair("--device", "BULKHEAD_TEST_DEVICE"),
        std::pair("--codec", "BULKHEAD_TEST_CODECS")}) {
    const std::string value = Variable(variable);
    if (!value.empty()) arguments.insert(arguments.end(), {option, value});
  }
  const ProgramResult result = RunConformance(arguments);
  EXPECT_EQ(result.exit_code, 0) << result.Describe();
  const json report = ReportOf(result);
  EXPECT_EQ(report["failed"], 0);
  EXPECT_TRUE(
      std::string(report["file"]).starts_with(DistributionDirectory() + "/"))
      << report["file"];
  // Fails if checks were left out on this machine.
  EXPECT_GE(report["passed"], std::stoi(Variable("BULKHEAD_TEST_CHECKS")))
      << result.Describe();
  for (const json& check : report["checks"]) {
    EXPECT_NE(check["clause_says"], "") << check;
    const std::string name = check["check"];
    // ffmpeg of this machine makes each clip, in the size that is wanted.
    if (name.starts_with("decodes ") && !name.ends_with("it declares")) {
      EXPECT_EQ(check["result"], "passed") << check;
    }
  }
  std::ifstream file(junit);
  const std::string xml{std::istreambuf_iterator<char>(file), {}};
  EXPECT_NE(xml.find("failures=\"0\""), std::string::npos) << xml;
  EXPECT_NE(xml.find(" [frame-10]\""), std::string::npos) << xml;
}

}  // namespace
}  // namespace bulkhead::tests
