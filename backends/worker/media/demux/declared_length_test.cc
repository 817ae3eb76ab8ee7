// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/demux/declared_length.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "backends/worker/media/testing/memory_bytes.h"

namespace bulkhead::worker::demux {
namespace {

std::string Bytes(const std::vector<int>& values) {
  std::string bytes;
  for (const int value : values) bytes += static_cast<char>(value);
  return bytes;
}

DeclaredLength Read(const char* container, const std::string& file) {
  MemoryBytes bytes(file);
  return ReadDeclaredLength(container, MediaBytes(bytes), bytes.size());
}

TEST(DeclaredLength, OfMatroskaIsTheEndOfTheSegment) {
  const std::string header = Bytes({0x1a, 0x45, 0xdf, 0xa3, 0x82, 9, 9});
  const std::string segment = Bytes({0x18, 0x53, 0x80, 0x67});
  const auto bytes = [&](const std::vector<int>& size) {
    return Read("matroska,webm", header + segment + Bytes(size)).bytes;
  };
  EXPECT_EQ(bytes({0x90}), 12 + 16);
  EXPECT_EQ(bytes({0x01, 0, 0, 0, 0, 0, 1, 0}), 19 + 256);
  EXPECT_EQ(bytes({0xff}), 0) << "unknown, as of a live stream";
  EXPECT_EQ(bytes({0x01, 255, 255, 255, 255, 255, 255, 255}), 0);
  EXPECT_EQ(bytes({0x40}), 0) << "cut";
  EXPECT_EQ(Read("matroska,webm", Bytes({0})).bytes, 0);
  EXPECT_EQ(Read("matroska,webm", "").bytes, 0);
}

TEST(DeclaredLength, OfAviIsTheEndOfItsLastChunk) {
  const std::string tail = "AVI LIST";
  EXPECT_EQ(Read("avi", "RIFF" + Bytes({100, 0, 0, 0}) + tail).bytes, 108);
  EXPECT_EQ(Read("avi", "RIFF" + Bytes({4, 0, 0, 0}) + "AVI " + "RIFF" +
                            Bytes({50, 0, 0, 0}) + "AVIX")
                .bytes,
            12 + 58);
  EXPECT_EQ(Read("avi", "RIFF" + Bytes({0, 0, 0, 0}) + tail).bytes, 0);
  EXPECT_EQ(Read("avi", "RIFF" + Bytes({255, 255, 255, 255}) + tail).bytes, 0);
}

TEST(DeclaredLength, OfWavIsTheEndOfItsSamples) {
  const std::string head = "RIFF" + Bytes({9, 9, 9, 9}) + "WAVE";
  const std::string list = "LIST" + Bytes({3, 0, 0, 0}) + "abc" + Bytes({0});
  const std::string room = std::string(12, 'x');
  const auto wav =
      Read("wav", head + list + "data" + Bytes({200, 1, 0, 0}) + room);
  EXPECT_EQ(wav.sample_bytes, 456);
  EXPECT_EQ(wav.bytes, 12 + 12 + 8 + 456);
  EXPECT_EQ(
      Read("wav", head + "data" + Bytes({255, 255, 255, 255}) + room).bytes, 0)
      << "unknown";
  const std::string sizes = "ds64" + Bytes({16, 0, 0, 0}) +
                            std::string(8, '\0') +
                            Bytes({0, 0, 0, 0, 1, 0, 0, 0});
  EXPECT_EQ(
      Read("wav", head + sizes + "data" + Bytes({255, 255, 255, 255}) + room)
          .sample_bytes,
      int64_t{1} << 32);
}

TEST(DeclaredLength, OtherContainersTellNothing) {
  EXPECT_EQ(Read("mpegts", "RIFF" + Bytes({100, 0, 0, 0}) + "AVI ").bytes, 0);
}

}  // namespace
}  // namespace bulkhead::worker::demux
