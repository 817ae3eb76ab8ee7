// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/transport_walk.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "backends/worker/media/memory_bytes.h"

namespace bulkhead::worker {
namespace {

constexpr size_t kPacket = 188;

std::string Packet(int pid, int counter, bool begins_pes) {
  std::string packet(kPacket, '\x55');
  packet[0] = '\x47';
  packet[1] = static_cast<char>((begins_pes ? 0x40 : 0) | pid >> 8);
  packet[2] = static_cast<char>(pid & 0xff);
  packet[3] = static_cast<char>(0x10 | (counter & 0x0f));
  if (begins_pes) packet.replace(4, 4, std::string("\0\0\1\xc0", 4));
  return packet;
}

// A stream of `count` packets, of which every fifth begins a PES packet.
std::vector<std::string> Stream(int count) {
  std::vector<std::string> packets;
  for (int i = 0; i < count; ++i) {
    packets.push_back(Packet(256, i, i % 5 == 0));
  }
  return packets;
}

std::string Joined(const std::vector<std::string>& packets) {
  std::string bytes;
  for (const std::string& packet : packets) bytes += packet;
  return bytes;
}

// Reads the PES packets at 0, 5 and 10. Returns whether something is lost
// between the last two.
bool HasGap(const std::string& bytes, size_t stride = kPacket) {
  MemoryBytes file(bytes);
  TransportWalk walk(FileWindow(MediaBytes(file), file.size()), 256);
  (void)walk.LostUntilFirst(0);
  EXPECT_FALSE(walk.LostUntil(static_cast<int64_t>(5 * stride)));
  EXPECT_FALSE(walk.is_suspicious());
  const bool lost = walk.LostUntil(static_cast<int64_t>(10 * stride));
  return lost || walk.is_suspicious();
}

bool LosesEnd(const std::string& bytes) {
  MemoryBytes file(bytes);
  TransportWalk walk(FileWindow(MediaBytes(file), file.size()), 256);
  (void)walk.LostUntilFirst(5 * kPacket);
  const bool lost = walk.LostUntilEnd();
  return lost || walk.is_suspicious();
}

TEST(TransportWalk, AnIntactStreamHasNone) {
  EXPECT_FALSE(HasGap(Joined(Stream(20))));
}

TEST(TransportWalk, LostDamagedAndForeignBytesAreGaps) {
  auto lost = Stream(21);
  lost.erase(lost.begin() + 7);
  EXPECT_TRUE(HasGap(Joined(lost)));
  std::string zeroed = Joined(Stream(20));
  zeroed.replace(7 * kPacket, kPacket, kPacket, '\0');
  EXPECT_TRUE(HasGap(zeroed));
  auto marked = Stream(20);
  marked[8][1] = static_cast<char>(marked[8][1] | 0x80);
  EXPECT_TRUE(HasGap(Joined(marked)));
  EXPECT_TRUE(HasGap(Joined(Stream(20)).insert(7 * kPacket, "x")));
}

TEST(TransportWalk, APesPacketThatWasNotReadIsAGap) {
  auto unread = Stream(20);
  unread[7] = Packet(256, 7, true);
  EXPECT_TRUE(HasGap(Joined(unread)));
  unread[7][4] = 'x';
  EXPECT_TRUE(HasGap(Joined(unread)));
  unread[7] = Packet(257, 7, true);  // of another part
  unread[8][3] = static_cast<char>(0x17);
  unread[9][3] = static_cast<char>(0x18);
  for (size_t i = 10; i < 20; ++i) {
    unread[i][3] = static_cast<char>(0x10 | ((i - 1) & 0x0f));
  }
  EXPECT_FALSE(HasGap(Joined(unread)));
}

TEST(TransportWalk, RepeatedEmptyAndMeantPacketsAreNone) {
  auto packets = Stream(20);
  packets[7] = packets[6];
  packets[8][3] = static_cast<char>(0x17);
  packets[9][3] = static_cast<char>(0x18);
  packets[10][3] = static_cast<char>(0x19);
  EXPECT_FALSE(HasGap(Joined(packets)));
  packets = Stream(20);
  packets[7] = Packet(0x1fff, 3, false);
  packets[8][3] = static_cast<char>(0x3c);  // with an adaptation field
  packets[8][4] = 1;
  packets[8][5] = static_cast<char>(0x80);  // a discontinuity that is meant
  packets[9][3] = static_cast<char>(0x1d);
  packets[10][3] = static_cast<char>(0x1e);
  EXPECT_FALSE(HasGap(Joined(packets)));
}

// As where packets behind the last whole one were cut out.
TEST(TransportWalk, BytesOfNoPacketAtTheEndAreAGap) {
  const std::string bytes = Joined(Stream(10));
  EXPECT_FALSE(LosesEnd(bytes));
  EXPECT_TRUE(LosesEnd(bytes + std::string(82, 'x')));
  EXPECT_FALSE(LosesEnd(bytes + Packet(256, 10, true).substr(0, 82)));
  for (const size_t zeroes : {7, 82, 100'000}) {
    EXPECT_FALSE(LosesEnd(bytes + std::string(zeroes, '\0')));
    EXPECT_TRUE(
        LosesEnd(bytes + std::string(zeroes, '\0') + std::string(82, 'x')));
  }
}

// A recording begins where its receiver was switched on.
TEST(TransportWalk, WhatIsBeforeTheFirstPacketIsNoneIfItIsTorn) {
  const std::string bytes = Joined(Stream(20));
  const auto is_gap = [](const std::string& file, size_t first) {
    MemoryBytes served(file);
    TransportWalk walk(FileWindow(MediaBytes(served), served.size()), 256);
    const bool lost = walk.LostUntilFirst(static_cast<int64_t>(first));
    return lost || walk.is_suspicious();
  };
  EXPECT_FALSE(is_gap(bytes, 10 * kPacket));
  EXPECT_FALSE(is_gap(bytes.substr(kPacket), 9 * kPacket));
  EXPECT_FALSE(is_gap(bytes.substr(kPacket + 70), 9 * kPacket - 70));
  EXPECT_TRUE(is_gap(std::string(500, '\0') + bytes, 500));
  EXPECT_TRUE(is_gap(bytes.substr(0, 2 * kPacket) + bytes.substr(4 * kPacket),
                     8 * kPacket));
}

// Sixteen packets leave the counter of a stream as it was, but not that of the
// tables among them.
TEST(TransportWalk, TheTablesShowWhatTheStreamDoesNot) {
  const auto stream = [](int lost_from, int lost_to) {
    std::string bytes;
    int counter = 0;
    int table = 0;
    for (int i = 0; i < 60; ++i) {
      const bool is_table = i % 8 == 7;
      const std::string packet = is_table ? Packet(0, table++, true)
                                          : Packet(256, counter++, i % 5 == 0);
      if (i < lost_from || i >= lost_to) bytes += packet;
    }
    return bytes;
  };
  for (const bool lost : {false, true}) {
    // The tables at 23 and 31, and 16 packets of the stream.
    MemoryBytes file(lost ? stream(17, 35) : stream(0, 0));
    TransportWalk walk(FileWindow(MediaBytes(file), file.size()), 256);
    (void)walk.LostUntilFirst(0);
    for (const int64_t packet : {5, 10}) {
      EXPECT_FALSE(walk.LostUntil(packet * int64_t{kPacket}));
      EXPECT_FALSE(walk.is_suspicious());
    }
    EXPECT_FALSE(walk.IsSuspiciousBehind());
    EXPECT_FALSE(walk.LostUntil((lost ? 17 : 20) * int64_t{kPacket}));
    EXPECT_FALSE(walk.is_suspicious());
    EXPECT_EQ(walk.IsSuspiciousBehind(), lost);
  }
}

TEST(TransportWalk, PacketsCanHaveMoreAroundThem) {
  for (const size_t more : {4, 16}) {
    std::string bytes;
    for (const std::string& packet : Stream(20)) {
      bytes += packet + std::string(more, 'x');
    }
    EXPECT_FALSE(HasGap(bytes, kPacket + more)) << more;
    bytes.replace(7 * (kPacket + more), 50, 50, '\0');
    EXPECT_TRUE(HasGap(bytes, kPacket + more)) << more;
  }
}

TEST(TransportWalk, AnyBytesAndOffsetsAreTaken) {
  const std::string bytes = Joined(Stream(20));
  const std::vector<int64_t> offsets = {INT64_MIN, -1,   0,    1,
                                        187,       3760, 5000, INT64_MAX / 2};
  for (const size_t size :
       {size_t{0}, size_t{1}, size_t{188}, size_t{600}, bytes.size()}) {
    MemoryBytes file(bytes.substr(0, size));
    for (const int64_t from : offsets) {
      for (const int64_t to : offsets) {
        TransportWalk walk(FileWindow(MediaBytes(file), file.size()), 256);
        (void)walk.LostUntilFirst(from);
        (void)walk.LostUntil(to);
        (void)walk.IsSuspiciousBehind();
        (void)walk.LostUntilEnd();
      }
    }
  }
  std::mt19937 random(5);
  for (int i = 0; i < 2000; ++i) {
    std::string changed = bytes;
    for (int flips = 0; flips < 9; ++flips) {
      changed[random() % changed.size()] = static_cast<char>(random());
    }
    (void)LosesEnd(changed);
  }
}

}  // namespace
}  // namespace bulkhead::worker
