// SPDX-License-Identifier: Apache-2.0
//
// Tests whom the operators' commands ask, and for how long.

#include <capnp/message.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "bulkhead/host.h"
#include "bulkhead/operators.h"
#include "core/control/operator_address.h"
#include "ipc/deadline.h"
#include "ipc/message_socket.h"
#include "ipc/schema/control.capnp.h"
#include "ipc/testing/forked_child.h"
#include "ipc/unique_fd.h"
#include "tests/liars/lying_installation.h"
#include "tests/support/own_world.h"
#include "tests/support/process_watch.h"

namespace bulkhead::tests {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

constexpr milliseconds kLimit{30'000};

// Answers two applications as bulkheadd would, but neither before both were
// asked. Returns the number of questions.
int AnswerBothAtOnce(const ipc::UniqueFd (&listening)[2],
                     const Status& answer) {
  const auto deadline = ipc::Deadline::After(kLimit);
  ipc::UniqueFd asking[2];
  int asked = 0;
  for (int i = 0; i < 2; ++i) {
    asking[i] = ipc::UniqueFd(::accept(listening[i].get(), nullptr, nullptr));
    const auto question = ipc::ReceiveMessage(asking[i].get(), 0, deadline);
    if (question && *question) ++asked;
  }
  for (const ipc::UniqueFd& socket : asking) {
    capnp::MallocMessageBuilder reply;
    auto failed = reply.initRoot<ipc::schema::HostReply>().initFailed();
    failed.setCode(static_cast<ipc::schema::ErrorCode>(answer.code()));
    failed.setMessage(answer.message());
    (void)ipc::SendMessage(socket.get(), reply, {}, deadline);
  }
  return asked;
}

TEST(OperatorsReach, AllAreAskedBeforeTheFirstAnswerIsAwaited) {
  const std::vector<int> pids = {::getpid(), ::getppid()};
  ipc::UniqueFd listening[2];
  for (int i = 0; i < 2; ++i) {
    listening[i] =
        ipc::UniqueFd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    sockaddr_un address;
    socklen_t bytes = 0;
    ASSERT_TRUE(ToAddress(OperatorAddressPrefix(::geteuid()) +
                              std::to_string(pids[i]) + "/0123456789abcdef",
                          address, bytes));
    ASSERT_EQ(::bind(listening[i].get(),
                     reinterpret_cast<const sockaddr*>(&address), bytes),
              0);
    ASSERT_EQ(::listen(listening[i].get(), 1), 0);
  }
  const Status answer(Code::kOutOfRange, "both were asked");
  const auto answering = [&] {
    return std::async(std::launch::async,
                      [&] { return AnswerBothAtOnce(listening, answer); });
  };
  auto described = answering();
  const RunningHosts running = FindRunningHosts(milliseconds(0)).value();
  EXPECT_EQ(described.get(), 2);
  EXPECT_THAT(running.silent,
              testing::Contains(testing::Field(&SilentHost::reason,
                                               HasSubstr(answer.message())))
                  .Times(2));
  auto commanded = answering();
  const std::vector<Status> statuses =
      CommandBackends(pids, "honest", BackendCommand::kRestart);
  EXPECT_EQ(commanded.get(), 2);
  for (const Status& status : statuses) {
    EXPECT_EQ(status.code(), answer.code()) << status;
  }
}

// Only time sets one deadline apart from several.
TEST(OperatorsReach, AllThatAreStoppedTakeNoLongerThanOne) {
  constexpr size_t kStopped = 12;
  const LyingInstallation installation({"honest"});
  std::vector<std::unique_ptr<Host>> hosts;
  std::vector<ProcessWatch> stopped;
  for (size_t i = 0; i < kStopped; ++i) {
    hosts.push_back(Host::Create(installation.options()).value());
    stopped.emplace_back(hosts.back()->supervisor_pid());
    ASSERT_TRUE(stopped.back().Signal(SIGSTOP));
  }
  const auto began = std::chrono::steady_clock::now();
  const RunningHosts running = FindRunningHosts(milliseconds(0)).value();
  // Much less than the time that a command may take.
  const std::vector<Status> commanded =
      CommandBackends({::getpid()}, "honest", BackendCommand::kEnable);
  const auto took = std::chrono::steady_clock::now() - began;
  EXPECT_EQ(commanded[0].code(), Code::kDeadlineExceeded) << commanded[0];
  for (const ProcessWatch& supervisor : stopped) {
    EXPECT_TRUE(supervisor.Signal(SIGCONT));
  }
  EXPECT_THAT(running.silent, testing::SizeIs(testing::Ge(kStopped)));
  // One takes two seconds, for the list as for the command.
  EXPECT_LT(took, std::chrono::seconds(20));
  hosts.clear();
  EXPECT_THAT(AwaitEndOfAll(stopped, kLimit), testing::IsEmpty());
}

// A bulkhead_test relies on it: no command from outside reaches its hosts.
TEST(OperatorsReach, AnApplicationInAnotherNetworkNamespaceIsNotFound) {
  // Not this test's, which has threads.
  ipc::ForkedChild may([] { return ::unshare(CLONE_NEWNET) == 0 ? 0 : 1; });
  if (may.Wait() != 0) GTEST_SKIP() << "no network namespaces";
  EXPECT_TRUE(HasOwnNetwork());
  const auto network_of = [](const std::string& process) {
    return std::filesystem::read_symlink("/proc/" + process + "/ns/net");
  };
  EXPECT_NE(network_of("self"), network_of(std::to_string(::getppid())));
  const LyingInstallation installation({"honest"});
  const auto other = ipc::ForkedChild::Prepared([&] {
    ASSERT_EQ(::unshare(CLONE_NEWNET), 0);
    static std::unique_ptr<Host> host;
    host = Host::Create(installation.options()).value();
    EXPECT_EQ(FindRunningHosts(milliseconds(0)).value().hosts.size(), 1u);
  });
  EXPECT_THAT(FindRunningHosts(milliseconds(0)).value().hosts,
              testing::IsEmpty());
  EXPECT_EQ(
      CommandBackend(other.pid(), "honest", BackendCommand::kDisable).code(),
      Code::kNotFound);
}

}  // namespace
}  // namespace bulkhead::tests
