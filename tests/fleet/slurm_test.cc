// SPDX-License-Identifier: Apache-2.0
//
// The page about Slurm does what it shows, with the daemons of one node.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <net/if.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "ipc/unique_fd.h"
#include "tests/docs/workplace.h"
#include "tests/fleet/fleet_page.h"
#include "tests/support/own_world.h"
#include "tests/support/program.h"

namespace bulkhead::tests {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kStart{60};

// Slurm resolves no address on a machine that has only loopback addresses.
constexpr char kAddress[] = "10.0.0.1";

bool AddAddress() {
  const ipc::UniqueFd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request = {};
  std::strcpy(request.ifr_name, "lo:1");
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  inet_pton(AF_INET, kAddress, &address.sin_addr);
  std::memcpy(&request.ifr_addr, &address, sizeof(address));
  return ioctl(socket.get(), SIOCSIFADDR, &request) == 0;
}

// A cluster of one node, which is this machine.
class Slurm {
 public:
  explicit Slurm(const std::string& directory) : directory_(directory) {
    fs::create_directories(directory + "/munge");
    fs::permissions(directory + "/munge", fs::perms(0700));
    std::ofstream(directory + "/munge/key") << std::string(1024, 'k');
    fs::permissions(directory + "/munge/key", fs::perms(0600));
    char host[256] = "";
    gethostname(host, sizeof(host) - 1);
    const std::string node =
        std::string(host).substr(0, std::string(host).find('.'));
    const std::string socket = directory + "/socket";
    std::ofstream(directory + "/slurm.conf")
        << "ClusterName=test\nSlurmctldHost=" << node << "(" << kAddress
        << ")\n"
        << "SlurmUser=root\nSlurmdUser=root\n"
        << "AuthType=auth/munge\nAuthInfo=socket=" << socket << "\n"
        << "StateSaveLocation=" << directory << "/state\n"
        << "SlurmdSpoolDir=" << directory << "/spool\n"
        << "SlurmctldPidFile=" << directory << "/slurmctld.pid\n"
        << "SlurmdPidFile=" << directory << "/slurmd.pid\n"
        << "ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\n"
        << "SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\n"
        << "SchedulerParameters=batch_sched_delay=0,sched_interval=1\n"
        << "NodeName=" << node << " NodeAddr=" << kAddress << " CPUs=2\n"
        << "PartitionName=all Nodes=ALL Default=YES State=UP\n";
    setenv("SLURM_CONF", (directory + "/slurm.conf").c_str(), 1);
    munged_ = RunningProgram::Start(
        {"/usr/sbin/munged", "--foreground", "--force", "--socket=" + socket,
         "--key-file=" + directory + "/munge/key",
         "--pid-file=" + directory + "/munged.pid",
         "--log-file=" + directory + "/munged.log",
         "--seed-file=" + directory + "/munge/seed"});
    Await([&] { return fs::exists(socket); });
    slurmctld_ = RunningProgram::Start({"/usr/sbin/slurmctld", "-D"});
    slurmd_ = RunningProgram::Start({"/usr/sbin/slurmd", "-D"});
    Await([] {
      return RunProgram({"sinfo", "-h", "-o", "%T"}).output == "idle\n";
    });
  }
  // Ends the node before its controller.
  ~Slurm() {
    slurmd_.reset();
    slurmctld_.reset();
    munged_.reset();
    fs::remove_all(directory_);
  }

 private:
  template <typename Condition>
  static void Await(Condition is_met) {
    const auto end = std::chrono::steady_clock::now() + kStart;
    while (!is_met()) {
      ASSERT_LT(std::chrono::steady_clock::now(), end) << "Slurm did not start";
      sched_yield();
    }
  }

  const std::string directory_;
  std::unique_ptr<RunningProgram> munged_;
  std::unique_ptr<RunningProgram> slurmctld_;
  std::unique_ptr<RunningProgram> slurmd_;
};

TEST(SlurmPage, DoesWhatItShows) {
  const std::string missing =
      MissingOf({"/usr/sbin/munged", "/usr/sbin/slurmctld", "/usr/sbin/slurmd",
                 "/usr/bin/sbatch"});
  if (!missing.empty()) {
    GTEST_SKIP() << missing << " is not there; tools/setup --fleet installs it";
  }
  if (!HasOwnNetwork()) GTEST_SKIP() << "only root can run slurmd";
  ASSERT_TRUE(AddAddress()) << strerror(errno);
  const Workplace workplace("slurm");
  // The path of a socket must be short.
  char directory[] = "/tmp/bulkhead-slurm-XXXXXX";
  ASSERT_NE(mkdtemp(directory), nullptr);
  fs::permissions(directory, fs::perms(0755));
  const Slurm slurm(directory);
  if (HasFatalFailure()) return;
  RunPage(workplace);
  // Each task of the array was a shard, and left nothing to the last command.
  for (const char* shard : {"1", "2"}) {
    EXPECT_NE(workplace.Run(std::string("cat shard-") + shard + ".log")
                  .output.find("1 of 1 files have results, 0 of them"),
              std::string::npos);
  }
  ExpectWholeBatch(workplace);
}

}  // namespace
}  // namespace bulkhead::tests
