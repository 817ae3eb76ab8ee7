// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/mp3_info.h"

#include <gtest/gtest.h>

#include <string>

#include "backends/worker/media/memory_bytes.h"

namespace bulkhead::worker {
namespace {

std::string Big(uint32_t value) {
  return {static_cast<char>(value >> 24), static_cast<char>(value >> 16),
          static_cast<char>(value >> 8), static_cast<char>(value)};
}

// An info frame of MPEG-1 layer III, stereo, 128 kbit/s at 44.1 kHz.
std::string InfoFrame(uint32_t flags, const std::string& fields,
                      const std::string& encoder) {
  std::string frame("\xff\xfb\x90\x00", 4);
  frame += std::string(32, '\0') + "Info" + Big(flags) + fields + encoder;
  frame.resize(417, '\0');
  return frame;
}

std::string Whole() {
  return InfoFrame(15,
                   Big(1000) + Big(417'000) + std::string(100, '\1') + Big(50),
                   "LAME3.100" + std::string(12, '\0') + "\x24\x04\x80");
}

std::optional<Mp3Info> Read(std::string bytes) {
  MemoryBytes file(std::move(bytes));
  return ReadMp3Info(MediaBytes(file));
}

TEST(Mp3Info, ReadsWhatTheFrameTells) {
  const auto info = Read(Whole());
  ASSERT_TRUE(info);
  EXPECT_EQ(info->begin, 0);
  EXPECT_EQ(info->end, 417);
  EXPECT_EQ(info->frames, 1000u);
  EXPECT_EQ(info->bytes, 417'000u);
  EXPECT_TRUE(info->has_padding);
  EXPECT_EQ(info->start_padding, 0x240u);
  EXPECT_EQ(info->end_padding, 0x480u);
}

TEST(Mp3Info, IsFoundBehindATag) {
  const std::string tag = std::string("ID3\4\0\0\0\0\1\2", 10);
  const auto info = Read(tag + std::string(130, 'x') + Whole());
  ASSERT_TRUE(info);
  EXPECT_EQ(info->begin, 140);
  EXPECT_EQ(info->end, 557);
  EXPECT_EQ(info->frames, 1000u);
}

TEST(Mp3Info, FieldsThatAreMissingAreNotTold) {
  const auto info = Read(InfoFrame(1, Big(7), ""));
  ASSERT_TRUE(info);
  EXPECT_EQ(info->frames, 7u);
  EXPECT_EQ(info->bytes, 0u);
  EXPECT_FALSE(info->has_padding);
  EXPECT_EQ(info->start_padding, 0u);
}

TEST(Mp3Info, NothingIsToldWithoutANumberOfFrames) {
  EXPECT_FALSE(Read(InfoFrame(2, Big(7), "")));
  EXPECT_FALSE(Read(InfoFrame(1, Big(0), "")));
}

TEST(Mp3Info, NumbersCanBeAny) {
  const auto info =
      Read(InfoFrame(3, Big(0xffffffff) + Big(0xffffffff), "LAME"));
  ASSERT_TRUE(info);
  EXPECT_EQ(info->frames, 0xffffffffu);
  EXPECT_EQ(info->bytes, 0xffffffffu);
}

// A tag can claim to be longer than the file, and every cut end is possible.
TEST(Mp3Info, SurvivesWhatIsCutOffOrChanged) {
  EXPECT_FALSE(Read(std::string("ID3\4\0\0\x7f\x7f\x7f\x7f", 10) + Whole()));
  const std::string whole = Whole();
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(Read(whole.substr(0, size))) << size;
  }
  for (size_t at = 0; at < 200; ++at) {
    for (const char value : {'\0', '\x7f', '\x80', '\xff'}) {
      std::string changed = whole;
      changed[at] = value;
      const auto info = Read(changed);
      EXPECT_TRUE(!info || info->frames > 0);
    }
  }
}

}  // namespace
}  // namespace bulkhead::worker
