// SPDX-License-Identifier: Apache-2.0
#include "core/application/operators/operator_peer.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "core/control/operator_address.h"
#include "ipc/unique_fd.h"

namespace bulkhead::operators {
namespace {

constexpr char kLine[] =
    "0000000000000000: 00000002 00000000 00010000 0005 01 123 "
    "@bulkhead/1000/42/0123456789abcdef";

std::string With(const std::string& from, const std::string& to) {
  std::string line = kLine;
  return line.replace(line.find(from), from.size(), to);
}

TEST(OperatorPeer, AListeningSocketOfTheUserIsOne) {
  const auto listed = ParseListed(kLine, 1000);
  ASSERT_TRUE(listed);
  EXPECT_EQ(listed->address, "bulkhead/1000/42/0123456789abcdef");
  EXPECT_EQ(listed->host_pid, 42);
  EXPECT_EQ(listed->inode, 123u);
}

TEST(OperatorPeer, NothingElseIs) {
  EXPECT_FALSE(ParseListed(kLine, 100));
  EXPECT_FALSE(ParseListed("", 1000));
  EXPECT_FALSE(
      ParseListed("Num RefCount Protocol Flags Type St Inode Path", 0));
  EXPECT_FALSE(ParseListed(With("00010000", "00000000"), 1000));
  EXPECT_FALSE(ParseListed(With("@bulkhead", "/bulkhead"), 1000));
  EXPECT_FALSE(ParseListed(With("/42/", "/-42/"), 1000));
  EXPECT_FALSE(ParseListed(With("/42/", "/99999999999/"), 1000));
  EXPECT_FALSE(ParseListed(With("/42/", "/42x"), 1000));
  EXPECT_FALSE(ParseListed(With("abcdef", ""), 1000));
  EXPECT_FALSE(ParseListed(With(" 123 ", " x "), 1000));
}

// Returns a pid that no process has. Sandboxed tests at the same time may have
// one pid and see each other's sockets.
int MadeUpPid() {
  constexpr unsigned kAbovePids = 1u << 30;
  static const auto pid =
      static_cast<int>(kAbovePids | (std::random_device()() % kAbovePids));
  return pid;
}

// Listens where the `number`-th bulkheadd of that process would. One connection
// may wait to be accepted.
ipc::UniqueFd Listen(int number) {
  char digits[17];
  std::snprintf(digits, sizeof(digits), "%016x", number);
  sockaddr_un address;
  socklen_t bytes = 0;
  ipc::UniqueFd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (!ToAddress(OperatorAddressPrefix(::geteuid()) +
                     std::to_string(MadeUpPid()) + "/" + digits,
                 address, bytes) ||
      ::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), bytes) != 0 ||
      ::listen(socket.get(), 0) != 0) {
    return {};
  }
  return socket;
}

// The kernel's list may lack some while other processes close sockets.
constexpr size_t kMaybeMissed = 100;

TEST(FindPeersTest, ThoseAboveTheBoundAreNotConnectedTo) {
  constexpr size_t kMostPeers = 1'024;
  rlimit files;
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &files), 0);
  files.rlim_cur = files.rlim_max;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &files), 0);
  std::vector<ipc::UniqueFd> listeners;
  for (size_t i = 0; i < kMostPeers + kMaybeMissed; ++i) {
    listeners.push_back(Listen(static_cast<int>(i)));
    ASSERT_TRUE(listeners.back());
  }
  const auto found = FindPeers(MadeUpPid());
  ASSERT_TRUE(found) << found.error();
  EXPECT_EQ(found->peers.size(), kMostPeers);
}

TEST(FindPeersTest, NoMoreAreToldOfThanAPersonReads) {
  constexpr size_t kMostSilent = 16;
  std::vector<ipc::UniqueFd> listeners;
  for (size_t i = 0; i < kMostSilent + kMaybeMissed; ++i) {
    listeners.push_back(Listen(static_cast<int>(i)));
    ASSERT_TRUE(listeners.back());
  }
  const auto waiting = FindPeers(MadeUpPid());
  ASSERT_TRUE(waiting) << waiting.error();
  EXPECT_GT(waiting->peers.size(), kMostSilent);
  const auto found = FindPeers(MadeUpPid());
  ASSERT_TRUE(found) << found.error();
  EXPECT_EQ(found->silent.size(), kMostSilent);
}

}  // namespace
}  // namespace bulkhead::operators
