// SPDX-License-Identifier: Apache-2.0
//
// The vendors' tutorial works on a machine that has Bulkhead installed and
// nothing of the repository: each command of the page is run in an empty
// directory, in their order, and prints what the page shows. The backend that
// comes of it decodes real streams of AV1 as `cpu` does.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "tests/docs/page.h"
#include "tests/media/sample_files.h"
#include "tests/support/covered_directory.h"
#include "tests/support/own_world.h"
#include "tests/support/program.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

namespace fs = std::filesystem;
using std::chrono_literals::operator""min;

// `bulkhead install` as root, which the page shows, installs here.
constexpr char kSystemBackends[] = "/usr/local/lib/bulkhead";

// Covers the directory of the system's backends, so that no other test finds
// what the page installs, nor the page what the machine has. Only root needs
// it: others install below HOME. Prints to stderr why the kernel refused: the
// page then installs where all see it, and uninstalls it.
void CoverSystemBackends() {
  if (geteuid() != 0) return;
  std::error_code error;
  fs::create_directories(kSystemBackends, error);
  const std::string refused = CoverDirectory(kSystemBackends);
  if (!refused.empty()) {
    std::cerr << "other tests see what is installed into " << kSystemBackends
              << ": " << refused << '\n';
  }
}

class Tutorial : public testing::Test {
 protected:
  // Installs Bulkhead, and has the commands find it as a user's would.
  static void SetUpTestSuite() {
    CoverSystemBackends();
    // A backend's process has a user of its own, which must reach the files.
    umask(022);
    const fs::path root = TemporaryDirectory() + "/tutorial";
    fs::remove_all(root);
    place_ = root / "empty";
    for (const char* directory : {"empty", "home", "run"}) {
      fs::create_directories(root / directory);
    }
    fs::permissions(root / "run", fs::perms::owner_all);
    const std::string prefix = root / "usr";
    const ProgramResult installed = RunProgram(
        {PathFromEnvironment("BULKHEAD_TEST_PACKAGE"), "prefix", "--prefix",
         prefix},
        {.environment = {{"BULKHEAD_PREFIX_TAR",
                          PathFromEnvironment("BULKHEAD_TEST_PREFIX_TAR")}}});
    ASSERT_EQ(installed.exit_code, 0) << installed.Describe();
    const std::string path = getenv("PATH");
    setenv("PATH", (prefix + "/bin:" + path).c_str(), 1);
    setenv("PKG_CONFIG_PATH", (prefix + "/lib/pkgconfig").c_str(), 1);
    setenv("HOME", (root / "home").c_str(), 1);
    setenv("XDG_RUNTIME_DIR", (root / "run").c_str(), 1);
    setenv("BULKHEAD_STATE_DIR", (root / "state").c_str(), 1);
    for (const char* variable :
         {"BULKHEAD_LIBEXEC_DIR", "BULKHEAD_PATH", "BULKHEAD_ADD_PATH",
          "XDG_DATA_HOME", "XDG_CONFIG_HOME", "LD_LIBRARY_PATH"}) {
      unsetenv(variable);
    }
  }

  static ProgramResult Run(const std::string& text, int last_status = 0) {
    ProgramOptions options;
    // Half a minute on a machine of its own, and a busy one may need ten times
    // that.
    if (text.find(" conformance ") != std::string::npos) options.limit = 10min;
    return RunProgram({"bash", "-c",
                       "cd '" + place_ + "' && exec 2>&1\n(exit " +
                           std::to_string(last_status) + ")\n" + text},
                      options);
  }

  static std::string place_;
};

std::string Tutorial::place_;

// First, because the others use what it builds.
TEST_F(Tutorial, EachCommandDoesWhatThePageShows) {
  int last_status = 0;
  size_t run = 0;
  const std::string page = ReadPage(PathFromEnvironment("BULKHEAD_TEST_PAGE"));
  for (const CodeBlock& block : CodeBlocksOf(page)) {
    if (block.language != "console") continue;
    const auto commands = CommandsOf(block);
    for (size_t i = 0; i < commands.size(); ++i) {
      SCOPED_TRACE(std::to_string(commands[i].line) + ": " + commands[i].text);
      const ProgramResult result = Run(commands[i].text, last_status);
      last_status = result.exit_code;
      ++run;
      const bool status_is_shown =
          i + 1 < commands.size() && commands[i + 1].text == "echo $?";
      if (!status_is_shown) {
        EXPECT_EQ(result.exit_code, 0) << result.Describe();
      }
      if (commands[i].output.empty()) continue;
      EXPECT_EQ(PartThatDiffers(commands[i].output, result.output), "")
          << "is not where the page shows it; the output is\n"
          << result.output;
    }
  }
  EXPECT_GT(run, 15u);
}

// Reloads the backend while a stream of it waits for its reader.
TEST_F(Tutorial, ItsClipIsDecodedBeforeANewVersionTakesOver) {
  if (!HasOwnNetwork()) {
    GTEST_SKIP() << "operators' commands reach other applications of this user";
  }
  const std::string reload =
      "rm -f out; mkfifo out; bulkhead --plugin-path \"$PWD/dav1d\" decode "
      "clip.mkv --device dav1d --format rawvideo > out & "
      "exec 3<out; head -c 1000 <&3 > begun; bulkhead reload dav1d; "
      "echo \"ended with $?\"; cat <&3 > rest; wait";
  const ProgramResult reloaded = Run(reload);
  EXPECT_NE(reloaded.output.find("ended with 0"), std::string::npos)
      << reloaded.Describe();
  EXPECT_EQ(reloaded.output.find("was not checked"), std::string::npos)
      << reloaded.Describe();
  const ProgramResult refused =
      Run("cp -r dav1d kept; sed -i s/a7a4/0000/ "
          "dav1d/*.dist-info/bulkhead.toml; " +
          reload + "; rm -rf dav1d; mv kept dav1d");
  EXPECT_EQ(refused.output.find("ended with 0"), std::string::npos)
      << refused.Describe();
  EXPECT_NE(refused.output.find("clip.ivf\": frame 3 is not the picture that "
                                "bulkhead.toml gives"),
            std::string::npos)
      << refused.Describe();
}

TEST_F(Tutorial, ItsBackendDecodesRealStreamsAsCpuDoes) {
  size_t compared = 0;
  for (const SampleFile& file : MediaFiles()) {
    if (file.name.find("av1") == std::string::npos) continue;
    const std::string decode =
        "bulkhead --plugin-path \"$PWD/dav1d\" decode '" + file.path + "' ";
    const ProgramResult cpu = Run(decode + "--threads 1 | grep -v '^#'");
    EXPECT_GT(cpu.output.size(), 100u) << cpu.Describe();
    for (const char* threads : {"1", "8"}) {
      const ProgramResult dav1d = Run(decode + "--device dav1d --threads " +
                                      threads + " | grep -v '^#'");
      EXPECT_EQ(dav1d.output, cpu.output) << file.path << ", " << threads;
    }
    ++compared;
  }
  if (compared == 0) GTEST_SKIP() << WhyNoSamples();
}

}  // namespace
}  // namespace bulkhead::tests
