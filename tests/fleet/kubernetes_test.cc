// SPDX-License-Identifier: Apache-2.0
//
// The command of the pod in kubernetes.yaml, run for each index as Kubernetes
// would: it sets JOB_COMPLETION_INDEX, and takes the exit status.
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "tests/docs/page.h"
#include "tests/docs/workplace.h"
#include "tests/fleet/fleet_page.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

// Returns the block of text after a line "- |".
std::string ScriptOf(const std::string& manifest) {
  std::istringstream lines(manifest);
  std::string script;
  size_t indent = std::string::npos;
  for (std::string line; std::getline(lines, line);) {
    const size_t column = line.find_first_not_of(' ');
    if (indent == std::string::npos) {
      if (line.ends_with("- |")) indent = column + 2;
    } else if (column < indent) {
      break;
    } else {
      script += line.substr(indent) + "\n";
    }
  }
  return script;
}

TEST(KubernetesPage, PodsOfAllIndicesDoTheBatch) {
  const std::string manifest =
      ReadPage(PathFromEnvironment("BULKHEAD_TEST_MANIFEST"));
  EXPECT_NE(manifest.find("completions: 8\n"), std::string::npos);
  const std::string script = ScriptOf(manifest);
  ASSERT_NE(script, "");
  const Workplace workplace("kubernetes");
  ASSERT_EQ(workplace.Run("ls *.mp4 > list").exit_code, 0);
  for (int index = 0; index < 8; ++index) {
    const ProgramResult pod =
        workplace.Run("export JOB_COMPLETION_INDEX=" + std::to_string(index) +
                      "\nsh -c '" + script + "'");
    EXPECT_EQ(pod.exit_code, 0) << pod.output;
  }
  const ProgramResult once = workplace.Run(
      "bulkhead batch --files-from list -o one; echo $?\n"
      "diff -r one out");
  EXPECT_EQ(once.exit_code, 0) << once.output;
  EXPECT_NE(once.output.find("\n3\n"), std::string::npos)
      << "damaged.mp4 is one of them: " << once.output;
}

TEST(KubernetesPage, AFailureOfTheBackendIsOneOfThePod) {
  const std::string script =
      ScriptOf(ReadPage(PathFromEnvironment("BULKHEAD_TEST_MANIFEST")));
  const Workplace workplace("pod");
  ASSERT_EQ(workplace.Run("echo clip.mp4 > list; touch out").exit_code, 0);
  const ProgramResult pod =
      workplace.Run("export JOB_COMPLETION_INDEX=0\nsh -c '" + script + "'");
  EXPECT_EQ(pod.exit_code, 2) << pod.output;
}

TEST(KubernetesPage, DoesWhatItShows) {
  const Workplace workplace("page");
  RunPage(workplace, "kubectl");
  ExpectWholeBatch(workplace);
}

}  // namespace
}  // namespace bulkhead::tests
