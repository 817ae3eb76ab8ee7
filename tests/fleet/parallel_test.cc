// SPDX-License-Identifier: Apache-2.0
//
// The page about GNU parallel does what it shows: two "machines" are this one,
// reached through an sshd on two addresses.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "tests/docs/workplace.h"
#include "tests/fleet/fleet_page.h"
#include "tests/support/own_world.h"
#include "tests/support/program.h"

namespace bulkhead::tests {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kStart{30};

TEST(ParallelPage, DoesWhatItShows) {
  const std::string missing =
      MissingOf({"/usr/bin/parallel", "/usr/bin/ssh", "/usr/sbin/sshd"});
  if (!missing.empty()) {
    GTEST_SKIP() << missing << " is not there; tools/setup --fleet installs it";
  }
  if (!HasOwnNetwork()) GTEST_SKIP() << "only root can run sshd";
  const Workplace workplace("parallel");
  const std::string keys = workplace.path() + "/keys";
  fs::create_directory(keys);
  fs::create_directories("/run/sshd");
  for (const char* key : {"host", "user"}) {
    ASSERT_EQ(RunProgram({"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f",
                          keys + "/" + key})
                  .exit_code,
              0);
  }
  // A login of ssh has none of the variables of the test.
  std::ofstream config(keys + "/sshd_config");
  config << "Port 2222\nListenAddress 127.0.0.1\nListenAddress 127.0.0.2\n"
         << "HostKey " << keys << "/host\nPidFile none\nStrictModes no\n"
         << "AuthorizedKeysFile " << keys << "/user.pub\n"
         << "PermitRootLogin yes\nUsePAM no\nMaxStartups 100\nSetEnv";
  for (const char* name :
       {"PATH", "HOME", "BULKHEAD_STATE_DIR", "BULKHEAD_LIBEXEC_DIR"}) {
    config << " " << name << "=" << getenv(name);
  }
  config << "\n";
  config.close();
  const std::string ssh = "ssh -p 2222 -i " + keys +
                          "/user -o StrictHostKeyChecking=no "
                          "-o UserKnownHostsFile=/dev/null -o LogLevel=ERROR ";
  std::ofstream(workplace.path() + "/hosts")
      << "1/" << ssh << "root@127.0.0.1\n1/" << ssh << "root@127.0.0.2\n";
  const auto sshd = RunningProgram::Start(
      {"/usr/sbin/sshd", "-D", "-f", keys + "/sshd_config"});
  ASSERT_NE(sshd, nullptr);
  const auto end = std::chrono::steady_clock::now() + kStart;
  while (workplace.Run(ssh + "root@127.0.0.1 true").exit_code != 0) {
    ASSERT_LT(std::chrono::steady_clock::now(), end) << "sshd did not start";
  }

  RunPage(workplace);
  // joblog has a line of titles and one for each shard, with its machine.
  const std::string log = workplace.Run("cut -f 2,7 joblog | sort -u").output;
  EXPECT_NE(log.find("127.0.0.1\t0\n"), std::string::npos) << log;
  EXPECT_NE(log.find("127.0.0.2\t0\n"), std::string::npos) << log;
  ExpectWholeBatch(workplace);
}

}  // namespace
}  // namespace bulkhead::tests
