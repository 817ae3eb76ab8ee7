// SPDX-License-Identifier: Apache-2.0
#include "core/application/operators/operator_peer.h"

#include <gtest/gtest.h>

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
}

}  // namespace
}  // namespace bulkhead::operators
