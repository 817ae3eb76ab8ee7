// SPDX-License-Identifier: Apache-2.0
//
// `bulkhead verify` finds one wrong bit in one frame of a thousand.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/conformance/wrong_installation.h"
#include "tests/support/program.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

using nlohmann::json;

class VerifyTest : public testing::Test {
 protected:
  static constexpr const char* kFrames = "1000";

  void SetUp() override {
    clip_ = TemporaryDirectory() + "/thousand.mp4";
    if (RunFfmpeg({"-f", "lavfi", "-i", "testsrc2=size=160x120:rate=50",
                   "-frames:v", kFrames, "-c:v", "libx264", "-preset",
                   "veryfast", "-pix_fmt", "yuv420p", clip_})
            .exit_code != 0) {
      GTEST_SKIP() << "no ffmpeg with libx264 on this machine";
    }
  }

  static ProgramResult Verify(const std::vector<std::string>& arguments) {
    std::vector<std::string> command = {
        PathFromEnvironment("BULKHEAD_TEST_CLI"), "verify"};
    command.insert(command.end(), arguments.begin(), arguments.end());
    return RunProgram(
        command, {.environment = {{"BULKHEAD_LIBEXEC_DIR", LibexecDirectory()},
                                  {"BULKHEAD_STATE_DIR",
                                   TemporaryDirectory() + "/state"}}});
  }

  std::string clip_;
};

TEST_F(VerifyTest, OneBitOfOneFrameOfAThousandIsFound) {
  const ProgramResult result =
      Verify({clip_, "--device", "wrong", "--json", "--plugin-path",
              InstallWrong("wrong_picture")});
  EXPECT_EQ(result.exit_code, 4) << result.Describe();
  const json report = json::parse(result.output, nullptr, false);
  ASSERT_TRUE(report.is_object()) << result.Describe();
  EXPECT_EQ(report["frames"], 1000);
  EXPECT_EQ(report["differing"], 1);
  EXPECT_EQ(report["first_difference"]["frame"], 19) << report;
  EXPECT_NEAR(report["first_difference"]["seconds"], 0.38, 1e-6) << report;
  EXPECT_GT(report["lowest_psnr"], 80) << report;
}

TEST_F(VerifyTest, SoundDevicesAreEqual) {
  const ProgramResult result =
      Verify({clip_, "--device", "openreg:1", "--threads", "2"});
  EXPECT_EQ(result.exit_code, 0) << result.Describe();
  EXPECT_NE(
      result.output.find("1000 frames are equal in uint8; openreg:1 took"),
      std::string::npos)
      << result.Describe();
}

TEST_F(VerifyTest, TheLowestOfTenBitsIsCompared) {
  const std::string deep = TemporaryDirectory() + "/deep.mp4";
  ASSERT_EQ(RunFfmpeg({"-f", "lavfi", "-i", "testsrc2=size=160x120:rate=50",
                       "-frames:v", "10", "-c:v", "libx264", "-pix_fmt",
                       "yuv420p10le", deep})
                .exit_code,
            0);
  const ProgramResult equal = Verify({deep, "--device", "openreg"});
  EXPECT_EQ(equal.exit_code, 0) << equal.Describe();
  EXPECT_NE(equal.output.find("10 frames are equal in float32"),
            std::string::npos)
      << equal.Describe();
  const ProgramResult wrong =
      Verify({deep, "--device", "wrong", "--json", "--plugin-path",
              InstallWrong("clears_the_lowest_bit")});
  EXPECT_EQ(wrong.exit_code, 4) << wrong.Describe();
  const json report = json::parse(wrong.output, nullptr, false);
  ASSERT_TRUE(report.is_object()) << wrong.Describe();
  EXPECT_EQ(report["numbers"], "float32");
  EXPECT_EQ(report["differing"], 10);
}

TEST_F(VerifyTest, AFrameThatIsMissingIsTheFirstDifference) {
  const ProgramResult result =
      Verify({clip_, "--device", "wrong", "--plugin-path",
              InstallWrong("forgets_the_last")});
  EXPECT_EQ(result.exit_code, 4) << result.Describe();
  EXPECT_NE(result.output.find("frame 999 at 19.980 s"), std::string::npos)
      << result.Describe();
  EXPECT_NE(result.output.find("the comparison ended there"), std::string::npos)
      << result.Describe();
}

TEST_F(VerifyTest, AFileThatCannotBeReadIsNamed) {
  const ProgramResult result =
      Verify({clip_ + "x", clip_, "--device", "openreg"});
  EXPECT_EQ(result.exit_code, 2) << result.Describe();
  EXPECT_NE(result.errors.find("thousand.mp4x: No such file"),
            std::string::npos)
      << result.Describe();
  EXPECT_NE(result.output.find("1000 frames are equal"), std::string::npos);
}

}  // namespace
}  // namespace bulkhead::tests
