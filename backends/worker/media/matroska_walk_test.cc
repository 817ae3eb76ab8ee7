// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/matroska_walk.h"

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
    std::string tracks;
    for (const char* number : {"\1", "\2"}) {
      tracks += Element("\xae", Element("\xd7", number) +
                                    Element("\xe0", std::string(9, 'v')));
    }
    segment += Element("\x16\x54\xae\x6b", tracks);
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

MatroskaWalk WalkOf(MemoryBytes& file) {
  return MatroskaWalk(FileWindow(MediaBytes(file), file.size()));
}

// Returns the numbers of the blocks before which bytes are lost, and that of
// the last block + 1 if they are lost behind it.
std::vector<size_t> Losses(const std::string& bytes,
                           const std::vector<int64_t>& blocks) {
  MemoryBytes file(bytes);
  MatroskaWalk walk = WalkOf(file);
  std::vector<size_t> losses;
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (walk.LostUntil(blocks[i])) losses.push_back(i);
  }
  if (walk.LostUntilEnd()) losses.push_back(blocks.size());
  return losses;
}

using Numbers = std::vector<size_t>;

TEST(MatroskaWalk, ElementsLeadFromBlockToBlock) {
  const Clip clip;
  EXPECT_EQ(Losses(clip.bytes, clip.blocks), Numbers{});
  // What is behind the segment belongs to another file.
  EXPECT_EQ(Losses(clip.bytes + std::string(500, '\0'), clip.blocks),
            Numbers{});
}

TEST(MatroskaWalk, ABlockThatWasPassedOverIsALoss) {
  const Clip clip;
  auto blocks = clip.blocks;
  blocks.erase(blocks.begin() + 1);
  EXPECT_EQ(Losses(clip.bytes, blocks), Numbers{1});
  blocks.pop_back();
  EXPECT_EQ(Losses(clip.bytes, blocks), (Numbers{1, 2}));
  EXPECT_EQ(Losses(clip.bytes, {clip.blocks[2], clip.blocks[3]}), Numbers{0});
}

// libavformat drops a block with a wrong number, which damage leaves behind.
TEST(MatroskaWalk, BlocksOfOtherTracksAreNoneIfTheFileHasTheTrack) {
  const Clip clip;
  auto blocks = clip.blocks;
  blocks.erase(blocks.begin() + 1);
  std::string other = clip.bytes;
  other[static_cast<size_t>(clip.blocks[1])] = '\x82';
  EXPECT_EQ(Losses(other, blocks), Numbers{});
  other[static_cast<size_t>(clip.blocks[1])] = '\xa3';
  EXPECT_EQ(Losses(other, blocks), Numbers{1});
}

TEST(MatroskaWalk, LostAndForeignBytesLeadNowhere) {
  const Clip clip;
  const auto block = static_cast<size_t>(clip.blocks[1]);
  const std::vector<int64_t> others = {clip.blocks[0], clip.blocks[2],
                                       clip.blocks[3]};
  std::string zeroed = clip.bytes;
  zeroed.replace(block - 3, 100, 100, '\0');
  EXPECT_EQ(Losses(zeroed, others), Numbers{1});
  std::string renamed = clip.bytes;
  renamed[block - 3] = '\x83';  // no element of Matroska
  EXPECT_EQ(Losses(renamed, others), Numbers{1});
  std::string cut = clip.bytes;
  cut.erase(block + 100, 50);
  EXPECT_EQ(Losses(cut, {clip.blocks[0], clip.blocks[1], clip.blocks[2] - 50,
                         clip.blocks[3] - 50}),
            (Numbers{2, 4}));  // the segment is larger than the file
  // A whole block: the cluster has another size than it declares.
  cut = clip.bytes;
  cut.erase(block - 3, 306);
  EXPECT_EQ(
      Losses(cut, {clip.blocks[0], clip.blocks[2] - 306, clip.blocks[3] - 306}),
      (Numbers{1, 3}));
  EXPECT_EQ(Losses(clip.bytes.substr(0, clip.bytes.size() - 9), clip.blocks),
            Numbers{4});
}

TEST(MatroskaWalk, TheFirstBlockOfAClusterIsKnown) {
  const Clip clip;
  MemoryBytes file(clip.bytes);
  MatroskaWalk walk = WalkOf(file);
  for (size_t i = 0; i < clip.blocks.size(); ++i) {
    EXPECT_EQ(walk.BeginsCluster(clip.blocks[i]), i % 2 == 0);
  }
}

TEST(MatroskaWalk, AnyBytesAndOffsetsAreTaken) {
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
      (void)Losses(changed, {from, clip.blocks[2], INT64_MAX / 2});
    }
  }
}

}  // namespace
}  // namespace bulkhead::worker
