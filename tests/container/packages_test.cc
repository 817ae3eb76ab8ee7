// SPDX-License-Identifier: Apache-2.0
//
// The Debian packages, on a Debian that has nothing of the repository.

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/container/container.h"
#include "tests/docs/page.h"
#include "tests/support/program.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

namespace fs = std::filesystem;
using std::chrono::minutes;

// Debian packages and a wheel, and what uses them on a Debian that has nothing
// but the tools that a user brings along (tests/container/debian_root). The
// packages say themselves what they need, so that apt installs it.
class Packages : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    directory_ = TemporaryDirectory() + "/packages";
    fs::create_directories(directory_);
    for (const char* variable :
         {"BULKHEAD_TEST_OUTSIDER", "BULKHEAD_TEST_CMAKE",
          "BULKHEAD_TEST_PROGRAM", "BULKHEAD_TEST_PYTHON_USER"}) {
      fs::copy(PathFromEnvironment(variable), directory_,
               fs::copy_options::overwrite_existing);
    }
  }

  static void Make(const std::string& what) {
    const ProgramResult made =
        RunProgram({PathFromEnvironment("BULKHEAD_TEST_PACKAGE"), what, "--out",
                    directory_},
                   {.environment = {{"BULKHEAD_PREFIX_TAR",
                                     fs::absolute(PathFromEnvironment(
                                         "BULKHEAD_TEST_PREFIX_TAR"))}},
                    .limit = minutes(5)});
    ASSERT_EQ(made.exit_code, 0) << made.Describe();
  }

  // Writes what the pages show in Python as one script, since the examples of a
  // page follow one another.
  static void WriteExamples() {
    std::ofstream script(directory_ + "/examples.py");
    for (const char* variable :
         {"BULKHEAD_TEST_README", "BULKHEAD_TEST_PYTHON_README"}) {
      const std::string page = ReadPage(PathFromEnvironment(variable));
      for (const CodeBlock& block : CodeBlocksOf(page)) {
        if (block.language != "python") continue;
        for (const std::string& line : block.lines) script << line << '\n';
      }
    }
    ASSERT_TRUE(script.flush()) << directory_;
  }

  // Runs a script in a container that ends it at the first command that fails.
  static void Use(const std::string& script) {
    const Containers containers(directory_);
    if (!containers.obstacle().empty()) GTEST_SKIP() << containers.obstacle();
    const ProgramResult used = containers.Run(
        {},
        "set -e; export DEBIAN_FRONTEND=noninteractive;"
        " install='apt-get -q install --yes --no-install-recommends';"
        " fails() { if eval \"$1\"; then echo \"$1 works\"; exit 1; fi; };"
        " cd \"$(mktemp -d)\"; " +
            script + "; echo used");
    EXPECT_EQ(used.exit_code, 0) << used.Describe();
    EXPECT_TRUE(used.output.ends_with("used\n")) << used.Describe();
  }

  static std::string directory_;
};

std::string Packages::directory_;

TEST_F(Packages, OfDebianAreInstalledAndUsedOnACleanDebian) {
  ASSERT_NO_FATAL_FAILURE(Make("deb"));
  const ProgramResult checked = RunProgram(
      {"/bin/sh", "-c", "lintian --fail-on error '" + directory_ + "'/*.deb"},
      {.limit = minutes(5)});
  EXPECT_EQ(checked.exit_code, 0) << checked.Describe();
  Use("$install /bulkhead/*.deb; /bulkhead/outsider.sh /usr /bulkhead"
      " conformance;"
      " apt-get -q remove --purge --yes libbulkhead0 bulkhead libbulkhead-dev"
      " python3-bulkhead;"
      " fails 'find /usr /etc /var/lib -name \"*bulkhead*\""
      " ! -path \"/var/lib/apt/*\" | grep .'");
}

// Where a library is missing, the error says which packages to install, and
// when they are there, all works.
TEST_F(Packages, OfPythonAreInstalledAndUsedOnACleanDebian) {
  ASSERT_NO_FATAL_FAILURE(Make("wheel"));
  ASSERT_NO_FATAL_FAILURE(WriteExamples());
  Use("python3 -m venv venv; venv/bin/pip install --no-index /bulkhead/*.whl;"
      " ffmpeg -v error -f lavfi -i testsrc=duration=1 clip.mp4;"
      " fails 'venv/bin/python -c \"import bulkhead\" 2> message';"
      " cat message;"
      " $install $(sed -n 's/^ImportError: .*; apt-get install //p' message);"
      " dpkg --force-depends --remove libswscale6;"
      " fails 'venv/bin/python -m bulkhead decode clip.mp4 2> message';"
      " cat message;"
      " $install $(grep -o 'in the package lib[a-z0-9]*' message"
      " | cut -d ' ' -f 4);"
      " /bulkhead/python_user.sh $PWD/venv/bin/python;"
      // The examples show arrays of Debian's numpy, and this clip.
      " $install python3-numpy;"
      " ffmpeg -v error -y -f lavfi -i testsrc=size=320x240:duration=4.8"
      " -f lavfi -i sine=sample_rate=44100:duration=4.8"
      " -pix_fmt yuv420p clip.mp4;"
      " PYTHONPATH=/usr/lib/python3/dist-packages"
      " venv/bin/python /bulkhead/examples.py");
}

}  // namespace
}  // namespace bulkhead::tests
