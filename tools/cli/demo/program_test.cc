// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/demo/program.h"

#include <gtest/gtest.h>

namespace bulkhead::cli::demo {
namespace {

using std::chrono::milliseconds;

TEST(RunProgram, SaysHowItEnded) {
  EXPECT_TRUE(RunProgram({"true"}, milliseconds(60'000)).ok());
  const Status failed =
      RunProgram({"sh", "-c", "exit 3"}, milliseconds(60'000));
  EXPECT_EQ(failed.code(), Code::kInternal);
  EXPECT_NE(failed.message().find("exit status 3"), std::string::npos);
}

TEST(RunProgram, MissingProgramIsNotFound) {
  EXPECT_EQ(RunProgram({"no-such-program"}, milliseconds(60'000)).code(),
            Code::kNotFound);
}

TEST(RunProgram, KillsWhatTakesTooLong) {
  // bound: it sleeps for longer.
  EXPECT_EQ(RunProgram({"sleep", "1000"}, milliseconds(20)).code(),
            Code::kDeadlineExceeded);
}

}  // namespace
}  // namespace bulkhead::cli::demo
