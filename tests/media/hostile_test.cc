// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <set>

#include "tests/media/sample_files.h"
#include "tests/support/program.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

constexpr std::chrono::milliseconds kLimit{45'000};
constexpr long kMaxRssKib = 2L << 20;

// The exit codes for success, a file without video, a damaged file, and a limit
// that the file exceeds.
const std::set<int> kExitCodes = {0, 2, 3, 4};

TEST(Samples, AreThere) {
  if (HostileFiles().empty()) GTEST_SKIP() << WhyNoSamples();
}

// Decodes with the command, so that the test sees how the host ends and its
// memory.
class Hostile : public testing::TestWithParam<SampleFile> {
 protected:
  static ProgramResult Decode(const std::string& path,
                              const std::string& device) {
    ProgramOptions options;
    options.limit = kLimit;
    return RunProgram({PathFromEnvironment("BULKHEAD_TEST_CLI"), "--libexec",
                       LibexecDirectory(), "decode", path, "--device", device,
                       "--format", "null"},
                      options);
  }
};

TEST_P(Hostile, EndsInTimeWithFramesOrAnError) {
  for (const char* device : {"cpu", "openreg:0"}) {
    SCOPED_TRACE(device);
    const ProgramResult result = Decode(GetParam().path, device);
    ASSERT_TRUE(result.started);
    EXPECT_FALSE(result.timed_out);
    EXPECT_EQ(result.signal, 0);
    EXPECT_EQ(kExitCodes.count(result.exit_code), 1u) << result.Describe();
    EXPECT_FALSE(result.errors.empty()) << "it says nothing";
    if (result.exit_code == 2) {
      EXPECT_NE(result.errors.find("has no video stream"), std::string::npos)
          << result.errors;
    }
    if (result.exit_code == 4) {
      EXPECT_NE(result.errors.find("limit"), std::string::npos)
          << result.errors;
    }
    EXPECT_LT(result.max_rss_kib, kMaxRssKib);
  }
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Hostile);
INSTANTIATE_TEST_SUITE_P(Files, Hostile, testing::ValuesIn(HostileFiles()),
                         [](const auto& file) { return TestName(file.param); });

}  // namespace
}  // namespace bulkhead::tests
