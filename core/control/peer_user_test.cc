// SPDX-License-Identifier: Apache-2.0
#include "core/control/peer_user.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <optional>

namespace bulkhead {
namespace {

constexpr uid_t kUser = 1000;
constexpr uid_t kOverflow = 65534;

TEST(PeerUserTest, TheUserItselfAndRootAreBelieved) {
  for (const std::optional<uid_t> unmapped :
       {std::optional<uid_t>(), std::optional<uid_t>(kOverflow)}) {
    const BelievedUsers users{.own = kUser, .unmapped = unmapped};
    EXPECT_TRUE(users.Believes(kUser));
    EXPECT_TRUE(users.Believes(0));
    EXPECT_FALSE(users.Believes(kUser + 1));
    EXPECT_FALSE(users.Believes(kOverflow));
  }
}

TEST(PeerUserTest, TheUidOfAllWhoAreNotMappedIsNobodys) {
  const BelievedUsers everywhere{.own = kOverflow, .unmapped = std::nullopt};
  EXPECT_TRUE(everywhere.Believes(kOverflow));
  const BelievedUsers inside{.own = kOverflow, .unmapped = kOverflow};
  EXPECT_FALSE(inside.Believes(kOverflow));
  EXPECT_TRUE(inside.Believes(0));
  const BelievedUsers root{.own = kUser, .unmapped = 0};
  EXPECT_FALSE(root.Believes(0));
}

TEST(PeerUserTest, ThisProcessIsBelieved) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
  const auto peer = PeerOf(ends[0]);
  ASSERT_TRUE(peer);
  EXPECT_EQ(peer->pid, ::getpid());
  EXPECT_TRUE(BelievedUsers::OfThisProcess().Believes(peer->uid));
  EXPECT_FALSE(PeerOf(-1));
  ::close(ends[0]);
  ::close(ends[1]);
}

}  // namespace
}  // namespace bulkhead
