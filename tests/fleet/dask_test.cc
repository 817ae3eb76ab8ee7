// SPDX-License-Identifier: Apache-2.0
//
// The page about dask does what it shows, on a real scheduler and real workers.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "tests/docs/page.h"
#include "tests/docs/workplace.h"
#include "tests/fleet/fleet_page.h"
#include "tests/support/program.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

namespace fs = std::filesystem;

// The first word of the programs that serve until they are killed.
constexpr char kServers[] = "dask-";

// Without an option, dask looks for the address by which others reach this
// machine, which has none in a network of its own.
constexpr char kHere[] = " --host 127.0.0.1 --no-dashboard > dask.log 2>&1";

TEST(DaskPage, DoesWhatItShows) {
  const std::string missing =
      MissingOf({"/usr/bin/dask-scheduler", "/usr/bin/dask-worker"});
  if (!missing.empty()) {
    GTEST_SKIP() << missing << " is not there; tools/setup --fleet installs it";
  }
  // Where Python keeps the semaphores of its processes.
  if (access("/dev/shm", W_OK) != 0) {
    GTEST_SKIP() << "/dev/shm cannot be written to: " << strerror(errno);
  }
  const Workplace workplace("dask");
  const fs::path site =
      fs::canonical(PathFromEnvironment("BULKHEAD_TEST_PYTHON")).parent_path();
  setenv("PYTHONPATH", site.c_str(), 1);
  setenv("PYTHONDONTWRITEBYTECODE", "1", 1);
  std::vector<std::unique_ptr<RunningProgram>> servers;
  for (const CodeBlock& block :
       CodeBlocksOf(ReadPage(PathFromEnvironment("BULKHEAD_TEST_PAGE")))) {
    if (block.language == "python") {
      std::ofstream script(workplace.path() + "/hashes.py");
      for (const std::string& line : block.lines) script << line << '\n';
    }
    if (block.language != "console") continue;
    for (const PageCommand& command : CommandsOf(block)) {
      if (!command.text.starts_with(kServers)) continue;
      servers.push_back(RunningProgram::Start(
          {"bash", "-c",
           "cd '" + workplace.path() + "' && exec " + command.text + kHere}));
      ASSERT_NE(servers.back(), nullptr);
    }
  }
  ASSERT_EQ(servers.size(), 2u);
  RunPage(workplace, kServers);
  const ProgramResult once = workplace.Run(
      "bulkhead batch clip.mp4 other.mp4 -o one && diff -r one out");
  EXPECT_EQ(once.exit_code, 0) << once.output;
}

}  // namespace
}  // namespace bulkhead::tests
