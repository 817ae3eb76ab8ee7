// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/transport_gaps.h"

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

// Between the PES packets at 5 and 10.
bool HasGap(const std::string& bytes, size_t stride = kPacket) {
  MemoryBytes file(bytes);
  const auto at = [&](size_t packet) {
    return static_cast<int64_t>(packet * stride);
  };
  return HasTransportGap(MediaBytes(file), at(5), at(5), at(10));
}

TEST(TransportGaps, AnIntactStreamHasNone) {
  EXPECT_FALSE(HasGap(Joined(Stream(20))));
}

TEST(TransportGaps, LostDamagedAndForeignBytesAreGaps) {
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

TEST(TransportGaps, APesPacketThatWasNotReadIsAGap) {
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

TEST(TransportGaps, RepeatedEmptyAndMeantPacketsAreNone) {
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
TEST(TransportGaps, BytesOfNoPacketAtTheEndAreAGap) {
  const std::string bytes = Joined(Stream(10));
  EXPECT_FALSE(HasGap(bytes));
  EXPECT_TRUE(HasGap(bytes + std::string(82, 'x')));
  EXPECT_FALSE(HasGap(bytes + Packet(256, 10, true).substr(0, 82)));
}

TEST(TransportGaps, PacketsCanHaveMoreAroundThem) {
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

TEST(TransportGaps, AnyBytesAndOffsetsAreTaken) {
  const std::string bytes = Joined(Stream(20));
  const std::vector<int64_t> offsets = {INT64_MIN, -1,   0,    1,
                                        187,       3760, 5000, INT64_MAX / 2};
  for (const size_t size :
       {size_t{0}, size_t{1}, size_t{188}, size_t{600}, bytes.size()}) {
    MemoryBytes file(bytes.substr(0, size));
    for (const int64_t from : offsets) {
      for (const int64_t to : offsets) {
        (void)HasTransportGap(MediaBytes(file), from, from, to);
      }
    }
  }
  std::mt19937 random(5);
  for (int i = 0; i < 2000; ++i) {
    std::string changed = bytes;
    for (int flips = 0; flips < 9; ++flips) {
      changed[random() % changed.size()] = static_cast<char>(random());
    }
    (void)HasGap(changed);
  }
}

}  // namespace
}  // namespace bulkhead::worker
