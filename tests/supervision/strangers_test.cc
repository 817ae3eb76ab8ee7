// SPDX-License-Identifier: Apache-2.0
//
// Tests that other users are neither operators nor bulkheadds of this one.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bulkhead/host.h"
#include "core/application/operators/operator_peer.h"
#include "core/control/control_exchange.h"
#include "core/control/operator_address.h"
#include "ipc/deadline.h"
#include "ipc/testing/forked_child.h"
#include "ipc/unique_fd.h"
#include "tests/liars/lying_installation.h"
#include "tests/support/nobody.h"
#include "tests/support/refusals.h"
#include "tests/support/rows.h"

namespace bulkhead::tests {
namespace {

using ::testing::HasSubstr;

constexpr std::chrono::milliseconds kLimit{30'000};

// Asks as an operator does, and reads the answer.
Status Describe(int socket) {
  return Exchange(
      socket,
      [](ipc::schema::HostRequest::Builder request) {
        request.setDescribeHost();
      },
      {}, ipc::Deadline::After(kLimit), [](auto, auto&) { return Status(); });
}

// Returns a socket that is bound or connected to the abstract address `name`,
// or an empty one.
ipc::UniqueFd SocketTo(const std::string& name,
                       int (*call)(int, const sockaddr*, socklen_t)) {
  sockaddr_un address;
  socklen_t bytes = 0;
  ipc::UniqueFd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (!ToAddress(name, address, bytes) ||
      call(socket.get(), reinterpret_cast<sockaddr*>(&address), bytes) != 0) {
    return {};
  }
  return socket;
}

std::string AddressOf(uid_t user, pid_t application) {
  return OperatorAddressPrefix(user) + std::to_string(application) +
         "/0123456789abcdef";
}

// Listens at `name` until the process is killed. Two connections may wait
// there.
bool ListenForGood(const std::string& name) {
  ipc::UniqueFd socket = SocketTo(name, ::bind);
  return socket && ::listen(socket.release(), 1) == 0;
}

// Returns why nobody is believed where bulkheadd of `application` would listen.
std::vector<std::string> SilentIn(const Result<operators::FoundPeers>& found,
                                  pid_t application) {
  std::vector<std::string> reasons;
  for (const operators::SilentPeer& peer : found.value().silent) {
    if (peer.host_pid == application) reasons.push_back(peer.reason);
  }
  return reasons;
}

class Strangers : public testing::Test {
 protected:
  // Somebody else listens where a bulkheadd of this process would.
  Strangers()
      : stranger_(ipc::ForkedChild::Prepared([&] {
          if (::geteuid() == 0 &&
              !(BecomeNobody({}) && ListenForGood(address_))) {
            ::_exit(1);
          }
        })) {}
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can be somebody else";
  }

  const std::string address_ = AddressOf(::geteuid(), ::getpid());
  const ipc::ForkedChild stranger_;
};

TEST_F(Strangers, AreNotBelievedInPlaceOfBulkheadd) {
  const auto found = operators::FindPeers(::getpid());
  EXPECT_TRUE(found.value().peers.empty());
  const auto silent = SilentIn(found, ::getpid());
  ExpectOutcome(
      Escape(81), "a stranger in place of bulkheadd", "not believed",
      silent.size() == 1 && silent[0].find("not believed") != std::string::npos
          ? "not believed"
          : testing::PrintToString(silent));
}

TEST_F(Strangers, AreNoSilentApplications) {
  EXPECT_THAT(SilentIn(operators::FindPeers(std::nullopt), ::getpid()),
              testing::IsEmpty());
  // Nobody else fits in, so that only the kernel's list says whose it is.
  std::vector<ipc::UniqueFd> waiting;
  do {
    ipc::UniqueFd socket(
        ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    sockaddr_un address;
    socklen_t bytes = 0;
    ASSERT_TRUE(ToAddress(address_, address, bytes));
    if (::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), bytes) !=
        0) {
      ASSERT_EQ(errno, EAGAIN);
      break;
    }
    waiting.push_back(std::move(socket));
  } while (waiting.size() < 10);
  const auto of_all = SilentIn(operators::FindPeers(std::nullopt), ::getpid());
  ExpectOutcome(Escape(81), "a stranger's full socket among all", "none silent",
                of_all.empty() ? "none silent" : of_all[0]);
  EXPECT_THAT(SilentIn(operators::FindPeers(::getpid()), ::getpid()),
              testing::ElementsAre(HasSubstr("not believed")));
}

// Without the kernel's list of owners, each is connected to.
TEST_F(Strangers, AreNotBelievedWhereOnlyAConnectionTellsWhoTheyAre) {
  ipc::ForkedChild operating([&] {
    if (!RefuseCall(SYS_sendto, EPERM)) return 2;
    const auto one = operators::FindPeers(::getppid());
    const auto all = operators::FindPeers(std::nullopt);
    EXPECT_TRUE(one.value().peers.empty());
    EXPECT_THAT(SilentIn(one, ::getppid()),
                testing::ElementsAre(HasSubstr("not believed")));
    EXPECT_THAT(SilentIn(all, ::getppid()), testing::IsEmpty());
    return HasFailure() ? 1 : 0;
  });
  EXPECT_EQ(operating.Wait(), 0);
}

// Writes the one line of a file below /proc/self.
bool WriteOwn(const char* name, const std::string& line) {
  std::ofstream file(std::string("/proc/self/") + name);
  return bool(file << line << std::flush);
}

// Makes this process the one user of a namespace, which shows it as nobody.
// The kernel shows every other user as nobody there too.
bool BecomeNobodyOfANamespace() {
  const std::string user = " " + std::to_string(::geteuid()) + " 1";
  const std::string group = " " + std::to_string(::getegid()) + " 1";
  return ::unshare(CLONE_NEWUSER) == 0 && WriteOwn("setgroups", "deny") &&
         WriteOwn("uid_map", std::to_string(kNobody) + user) &&
         WriteOwn("gid_map", std::to_string(kNobody) + group) &&
         ::geteuid() == kNobody;
}

TEST_F(Strangers, OutsideOfAUserNamespaceAreNotItsNobody) {
  const LyingInstallation installation({"honest"});
  const HostOptions options = installation.options();
  const auto application = ipc::ForkedChild::Prepared([&] {
    static std::unique_ptr<Host> host;
    if (!BecomeNobodyOfANamespace()) ::_exit(1);
    host = Host::Create(options).value();
  });
  std::string address;
  std::ifstream list("/proc/net/unix");
  for (std::string line; std::getline(list, line);) {
    const auto listed = operators::ParseListed(line, kNobody);
    if (listed && listed->host_pid == application.pid()) {
      address = listed->address;
    }
  }
  ASSERT_NE(address, "");
  ipc::ForkedChild other([&] {
    constexpr uid_t kOther = 54'321;
    if (::setresuid(kOther, kOther, kOther) != 0) return 2;
    const ipc::UniqueFd socket = SocketTo(address, ::connect);
    if (!socket) return 3;
    return Describe(socket.get()).code() == Code::kBackendLost ? 0 : 1;
  });
  const int told = other.Wait();
  ExpectOutcome(Escape(80), "the application is nobody of a user namespace",
                "refused", told == 0 ? "refused" : std::to_string(told));
}

TEST_F(Strangers, OutsideOfAUserNamespaceAreNotItsBulkheadd) {
  const pid_t application = ::getpid();
  const auto stranger = ipc::ForkedChild::Prepared([&] {
    if (!BecomeNobody({}) || !ListenForGood(AddressOf(kNobody, application))) {
      ::_exit(1);
    }
  });
  ipc::ForkedChild operating([&] {
    if (!BecomeNobodyOfANamespace()) return 2;
    const auto found = operators::FindPeers(application);
    EXPECT_TRUE(found.value().peers.empty());
    EXPECT_THAT(SilentIn(found, application),
                testing::ElementsAre(HasSubstr("run the application and its "
                                               "operators as another user")));
    return HasFailure() ? 1 : 0;
  });
  const int told = operating.Wait();
  ExpectOutcome(Escape(80), "the operator is nobody of a user namespace",
                "not believed",
                told == 0 ? "not believed" : std::to_string(told));
}

}  // namespace
}  // namespace bulkhead::tests
