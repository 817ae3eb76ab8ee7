// SPDX-License-Identifier: Apache-2.0
#include "core/application/supervisor_link/supervisor_process.h"

#include <capnp/message.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "ipc/message_socket.h"
#include "ipc/schema/types.capnp.h"

namespace bulkhead::supervisor_link {
namespace {

constexpr std::chrono::milliseconds kPatience{60'000};

std::string Child() { return std::getenv("REPORTING_CHILD"); }

// What the child says of itself, tests/children/reporting_child.cc.
std::string ReportOf(const SupervisorProcess& process) {
  auto received = ipc::ReceiveMessage(process.control.get(), 0,
                                      ipc::Deadline::After(kPatience));
  if (!received || !*received) return "";
  return (*received)->root<ipc::schema::Failure>()->getMessage().cStr();
}

bool AwaitEnd(pid_t pid) {
  const ipc::UniqueFd pidfd(
      static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!pidfd) return errno == ESRCH;
  pollfd poll{.fd = pidfd.get(), .events = POLLIN, .revents = 0};
  return ::poll(&poll, 1, static_cast<int>(kPatience.count())) == 1;
}

std::atomic<int> child_signals = 0;

// An upgrade renames another program over the one that was opened.
TEST(StartSupervisorTest, StartsTheProgramThatWasOpened) {
  std::string directory = ::testing::TempDir() + "/programs-XXXXXX";
  ASSERT_NE(::mkdtemp(directory.data()), nullptr);
  const std::string path = directory + "/bulkheadd";
  std::filesystem::copy(Child(), path);
  const ipc::UniqueFd program(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_TRUE(program);
  std::filesystem::copy("/bin/false", directory + "/new");
  std::filesystem::rename(directory + "/new", path);
  auto process = StartSupervisor(path, program.get());
  ASSERT_TRUE(process) << process.error();
  const std::string report = ReportOf(*process);
  EXPECT_NE(report.find("descriptors=0,1,2,3,4;"), std::string::npos) << report;
  std::filesystem::remove_all(directory);
}

TEST(StartSupervisorTest, GivesDescriptors3And4AndNothingElse) {
  auto process = StartSupervisor(Child(), -1);
  ASSERT_TRUE(process) << process.error();
  const std::string report = ReportOf(*process);
  EXPECT_NE(report.find("descriptors=0,1,2,3,4;"), std::string::npos) << report;
  EXPECT_NE(report.find("arguments=bulkheadd --host " +
                        std::to_string(::getpid()) + ";"),
            std::string::npos)
      << report;
  EXPECT_NE(report.find("environment=LC_ALL=C.UTF-8;"), std::string::npos)
      << report;
  EXPECT_NE(report.find("pid=" + std::to_string(process->pid) + ";"),
            std::string::npos)
      << report;
}

TEST(StartSupervisorTest, StandsApartFromTheApplicationsSession) {
  auto process = StartSupervisor(Child(), -1);
  ASSERT_TRUE(process) << process.error();
  const std::string report = ReportOf(*process);
  EXPECT_NE(report.find("session_leader=1;"), std::string::npos) << report;
  EXPECT_NE(report.find("blocked_signals=0;"), std::string::npos) << report;
}

TEST(StartSupervisorTest, LeavesNoChildToTheApplication) {
  struct sigaction count = {};
  struct sigaction before;
  count.sa_handler = [](int) { ++child_signals; };
  ASSERT_EQ(::sigaction(SIGCHLD, &count, &before), 0);
  child_signals = 0;
  auto process = StartSupervisor(Child(), -1);
  ASSERT_TRUE(process) << process.error();
  errno = 0;
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
  errno = 0;
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG | __WALL), -1);
  EXPECT_EQ(errno, ECHILD);
  const pid_t pid = process->pid;
  process->control.reset();
  EXPECT_TRUE(AwaitEnd(pid));
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG | __WALL), -1);
  EXPECT_EQ(child_signals, 0);
  ::sigaction(SIGCHLD, &before, nullptr);
}

TEST(StartSupervisorTest, KeepsTheCallersSignalMask) {
  sigset_t mine;
  sigset_t before;
  sigemptyset(&mine);
  sigaddset(&mine, SIGUSR2);
  ASSERT_EQ(::pthread_sigmask(SIG_SETMASK, &mine, &before), 0);
  auto process = StartSupervisor(Child(), -1);
  sigset_t after;
  ::pthread_sigmask(SIG_SETMASK, &before, &after);
  ASSERT_TRUE(process) << process.error();
  EXPECT_EQ(sigismember(&after, SIGUSR2), 1);
  EXPECT_EQ(sigismember(&after, SIGUSR1), 0);
}

TEST(StartSupervisorTest, WorksFromManyThreadsAtOnce) {
  std::vector<std::thread> threads;
  std::atomic<int> good = 0;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 4; ++n) {
        auto process = StartSupervisor(Child(), -1);
        if (process && ReportOf(*process).find("descriptors=0,1,2,3,4;") !=
                           std::string::npos) {
          ++good;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 32);
}

TEST(StartSupervisorTest, OfAMissingProgramSaysWhichAndWhatToDo) {
  const auto process = StartSupervisor("/no/such/bulkheadd", -1);
  ASSERT_FALSE(process);
  EXPECT_EQ(process.error().code(), Code::kNotFound) << process.error();
  EXPECT_NE(process.error().message().find("/no/such/bulkheadd"),
            std::string::npos);
  EXPECT_NE(process.error().message().find(
                "with libexec_dir (--libexec DIR) or BULKHEAD_LIBEXEC_DIR"),
            std::string::npos);
}

TEST(StartSupervisorTest, OfSomethingThatIsNoProgramIsAnError) {
  const auto process = StartSupervisor("/", -1);
  ASSERT_FALSE(process);
  EXPECT_EQ(process.error().code(), Code::kBackendUnavailable)
      << process.error();
  EXPECT_NE(process.error().message().find("it is not executable"),
            std::string::npos);
  errno = 0;
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG | __WALL), -1);
  EXPECT_EQ(errno, ECHILD);
}

}  // namespace
}  // namespace bulkhead::supervisor_link
