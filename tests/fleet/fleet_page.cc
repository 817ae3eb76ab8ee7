// SPDX-License-Identifier: Apache-2.0
#include "tests/fleet/fleet_page.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/docs/page.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {

std::string MissingOf(const std::vector<std::string>& programs) {
  for (const std::string& program : programs) {
    if (access(program.c_str(), X_OK) != 0) return program;
  }
  return "";
}

void RunPage(const Workplace& workplace, const std::string& left_out) {
  int run = 0;
  for (const CodeBlock& block :
       CodeBlocksOf(ReadPage(PathFromEnvironment("BULKHEAD_TEST_PAGE")))) {
    if (block.language != "console") continue;
    for (const PageCommand& command : CommandsOf(block)) {
      SCOPED_TRACE(command.text);
      if (!left_out.empty() && command.text.starts_with(left_out)) continue;
      const ProgramResult result = workplace.Run(command.text);
      EXPECT_EQ(result.exit_code, 0) << result.Describe();
      EXPECT_EQ(PartThatDiffers(command.output, result.output), "")
          << result.output;
      ++run;
    }
  }
  EXPECT_GT(run, 0);
}

void ExpectWholeBatch(const Workplace& workplace) {
  const ProgramResult result = workplace.Run(
      "bulkhead batch --files-from list -o one && test -s one/manifest.jsonl "
      "&& diff -r one out");
  EXPECT_EQ(result.exit_code, 0) << result.output;
}

}  // namespace bulkhead::tests
