// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/matroska_elements.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "backends/worker/media/memory_bytes.h"

namespace bulkhead::worker {
namespace {

// With a length of two bytes.
std::string Element(const std::string& id, const std::string& data) {
  return id + static_cast<char>(0x40 | data.size() >> 8) +
         static_cast<char>(data.size() & 0xff) + data;
}

std::string Block(size_t bytes) {
  return Element("\xa3", "\x81" + std::string(bytes + 3, 'x'));
}

const std::string kCluster = "\x1f\x43\xb6\x75";
const std::string kSegment = "\x18\x53\x80\x67";

// Two clusters with two blocks each, and cues.
struct Clip {
  std::string bytes = Element("\x1a\x45\xdf\xa3", std::string(20, 'h'));
  std::vector<int64_t> blocks;  // the offsets of their data

  Clip() {
    std::string segment = Element("\x15\x49\xa9\x66", std::string(30, 'i'));
    const size_t begin = bytes.size() + kSegment.size() + 2;
    for (int i = 0; i < 2; ++i) {
      const std::string time = Element("\xe7", "\1");
      const size_t at = begin + segment.size() + kCluster.size() + 2;
      blocks.push_back(static_cast<int64_t>(at + time.size() + 3));
      blocks.push_back(static_cast<int64_t>(at + time.size() + 3 + 507));
      segment += Element(kCluster, time + Block(500) + Block(300));
    }
    segment += Element("\x1c\x53\xbb\x6b", std::string(40, 'c'));
    bytes += Element(kSegment, segment);
  }
};

bool Leads(const std::string& bytes, int64_t from, int64_t to) {
  MemoryBytes file(bytes);
  return MatroskaLeadsTo(MediaBytes(file), from, to, true);
}

bool Ends(const std::string& bytes, int64_t from) {
  MemoryBytes file(bytes);
  return MatroskaEndsBehind(MediaBytes(file), from, file.size());
}

TEST(MatroskaElements, LeadFromBlockToBlock) {
  const Clip clip;
  EXPECT_TRUE(Leads(clip.bytes, -1, clip.blocks[0]));
  for (size_t i = 0; i + 1 < clip.blocks.size(); ++i) {
    EXPECT_TRUE(Leads(clip.bytes, clip.blocks[i], clip.blocks[i + 1])) << i;
  }
  EXPECT_TRUE(Ends(clip.bytes, clip.blocks[3]));
}

TEST(MatroskaElements, ABlockThatWasPassedOverIsALoss) {
  const Clip clip;
  EXPECT_FALSE(Leads(clip.bytes, -1, clip.blocks[1]));
  EXPECT_FALSE(Leads(clip.bytes, clip.blocks[0], clip.blocks[2]));
  EXPECT_FALSE(Ends(clip.bytes, clip.blocks[2]));
  // Beside other streams, it may be of one of them.
  MemoryBytes file(clip.bytes);
  EXPECT_TRUE(
      MatroskaLeadsTo(MediaBytes(file), clip.blocks[0], clip.blocks[2], false));
}

TEST(MatroskaElements, LostAndForeignBytesLeadNowhere) {
  const Clip clip;
  std::string zeroed = clip.bytes;
  zeroed.replace(static_cast<size_t>(clip.blocks[1]) - 3, 100, 100, '\0');
  EXPECT_FALSE(Leads(zeroed, clip.blocks[0], clip.blocks[2]));
  std::string cut = clip.bytes;
  cut.erase(static_cast<size_t>(clip.blocks[1]) + 100, 50);
  EXPECT_FALSE(Leads(cut, clip.blocks[1], clip.blocks[2] - 50));
  EXPECT_FALSE(Ends(cut, clip.blocks[3] - 50));  // shorter than the segment
  EXPECT_FALSE(
      Ends(clip.bytes.substr(0, clip.bytes.size() - 9), clip.blocks[3]));
}

TEST(MatroskaElements, TheFirstBlockOfAClusterIsKnown) {
  const Clip clip;
  MemoryBytes file(clip.bytes);
  for (size_t i = 0; i < clip.blocks.size(); ++i) {
    EXPECT_EQ(MatroskaBeginsCluster(MediaBytes(file), clip.blocks[i]),
              i % 2 == 0);
  }
}

TEST(MatroskaElements, AnyBytesAndOffsetsAreTaken) {
  const Clip clip;
  std::mt19937 random(3);
  for (int i = 0; i < 2000; ++i) {
    std::string changed = clip.bytes;
    for (int flips = 0; flips < 12; ++flips) {
      changed[random() % changed.size()] =
          static_cast<char>(random() % 3 == 0 ? 0xff : random());
    }
    for (const int64_t from : {int64_t{-1}, clip.blocks[1], int64_t{0},
                               int64_t{5000}, INT64_MAX / 2}) {
      (void)Leads(changed, from, clip.blocks[2]);
      (void)Leads(changed, from, INT64_MAX / 2);
      (void)Ends(changed, from);
    }
  }
  for (size_t size = 0; size < clip.bytes.size(); size += 5) {
    EXPECT_FALSE(Ends(clip.bytes.substr(0, size), clip.blocks[3]));
  }
}

}  // namespace
}  // namespace bulkhead::worker
