// SPDX-License-Identifier: Apache-2.0
//
// The Debian packages, on a Debian that has nothing of the repository.

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <string>

#include "tests/container/container.h"
#include "tests/support/program.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

namespace fs = std::filesystem;
using std::chrono::minutes;

// The tools that a user of the packages brings along. The packages say
// themselves what they need, so that apt installs it.
constexpr char kTools[] =
    "ca-certificates,pkg-config,make,g++,ffmpeg,libdav1d-dev,python3,cmake";

TEST(DebianPackages, AreInstalledAndUsedOnACleanDebian) {
  const std::string directory = TemporaryDirectory() + "/packages";
  fs::create_directories(directory);
  const ProgramResult made = RunProgram(
      {PathFromEnvironment("BULKHEAD_TEST_PACKAGE"), "deb", "--out", directory},
      {.environment = {{"BULKHEAD_PREFIX_TAR",
                        fs::absolute(
                            PathFromEnvironment("BULKHEAD_TEST_PREFIX_TAR"))}},
       .limit = minutes(5)});
  ASSERT_EQ(made.exit_code, 0) << made.Describe();

  const ProgramResult checked = RunProgram(
      {"/bin/sh", "-c", "lintian --fail-on error '" + directory + "'/*.deb"},
      {.limit = minutes(5)});
  EXPECT_EQ(checked.exit_code, 0) << checked.Describe();

  for (const char* variable : {"BULKHEAD_TEST_OUTSIDER", "BULKHEAD_TEST_CMAKE",
                               "BULKHEAD_TEST_PROGRAM"}) {
    fs::copy(PathFromEnvironment(variable), directory,
             fs::copy_options::overwrite_existing);
  }
  const Containers containers({.name = "packages",
                               .packages = kTools,
                               .last_file = "/usr/bin/cmake",
                               .application = directory});
  if (!containers.obstacle().empty()) GTEST_SKIP() << containers.obstacle();
  const ProgramResult used = containers.Run(
      {"--network=host"},
      "set -e; export DEBIAN_FRONTEND=noninteractive; apt-get -q update;"
      " apt-get -q install --yes --no-install-recommends /bulkhead/*.deb;"
      " cd /tmp; /bulkhead/outsider.sh /usr /bulkhead;"
      " apt-get -q remove --purge --yes libbulkhead0 bulkhead libbulkhead-dev;"
      " ! find /usr /etc /var/lib -name '*bulkhead*' ! -path '/var/lib/apt/*'"
      " | grep .; echo used");
  EXPECT_EQ(used.exit_code, 0) << used.Describe();
  EXPECT_TRUE(used.output.ends_with("used\n")) << used.Describe();
}

}  // namespace
}  // namespace bulkhead::tests
