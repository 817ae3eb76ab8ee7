// SPDX-License-Identifier: Apache-2.0
#include "tests/support/program.h"

#include <gtest/gtest.h>
#include <signal.h>

namespace bulkhead::tests {
namespace {

using std::chrono::milliseconds;

TEST(Program, TellsExitCodeAndBothOutputs) {
  const auto result =
      RunProgram({"sh", "-c", "echo out; echo err >&2; exit 7"});
  EXPECT_TRUE(result.started);
  EXPECT_EQ(result.exit_code, 7);
  EXPECT_EQ(result.signal, 0);
  EXPECT_EQ(result.output, "out\n");
  EXPECT_EQ(result.errors, "err\n");
  EXPECT_GT(result.max_rss_kib, 0);
}

TEST(Program, TellsTheSignal) {
  EXPECT_EQ(RunProgram({"sh", "-c", "kill -USR1 $$"}).signal, SIGUSR1);
}

TEST(Program, IsKilledWhenItsTimeIsOver) {
  ProgramOptions options;
  // bound: it runs for ever.
  options.limit = milliseconds(50);
  const auto result = RunProgram({"tail", "-f", "/dev/null"}, options);
  EXPECT_TRUE(result.timed_out);
  EXPECT_EQ(result.signal, SIGKILL);
}

TEST(Program, GetsTheEnvironmentThatIsAskedFor) {
  ProgramOptions options;
  options.environment = {{"PATH_OF_TEST", "a"}, {"HOME", std::nullopt}};
  const auto result =
      RunProgram({"sh", "-c", "echo $PATH_OF_TEST.${HOME-none}"}, options);
  EXPECT_EQ(result.output, "a.none\n");
}

TEST(Program, ThatIsMissingIsNotStarted) {
  EXPECT_FALSE(RunProgram({"no-such-program-at-all"}).started);
}

TEST(RunningProgram, IsReadLineByLine) {
  auto program =
      RunningProgram::Start({"sh", "-c", "echo 1; echo 2; cat /dev/zero"});
  ASSERT_NE(program, nullptr);
  EXPECT_EQ(program->ReadLine(milliseconds(60'000)), "1");
  EXPECT_EQ(program->ReadLine(milliseconds(60'000)), "2");
}

}  // namespace
}  // namespace bulkhead::tests
