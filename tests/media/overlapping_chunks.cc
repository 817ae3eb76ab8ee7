// SPDX-License-Identifier: Apache-2.0
#include "tests/media/overlapping_chunks.h"

#include <fstream>
#include <initializer_list>
#include <string_view>

namespace bulkhead::tests {
namespace {

constexpr uint32_t kPacketsPerChunk = 31;
constexpr uint32_t kSide = 2;
// Two rows of two pixels of three bytes, each row padded to an even length.
constexpr uint32_t kPacketBytes = kSide * kSide * 3;
constexpr uint32_t kTimescale = 1000;

std::string Big(uint64_t value, int bytes) {
  std::string text;
  for (int i = bytes - 1; i >= 0; --i) {
    text += static_cast<char>(value >> (8 * i) & 0xff);
  }
  return text;
}

std::string Words(std::initializer_list<uint32_t> values) {
  std::string text;
  for (const uint32_t value : values) text += Big(value, 4);
  return text;
}

std::string Box(std::string_view type,
                std::initializer_list<std::string> parts) {
  std::string body;
  for (const std::string& part : parts) body += part;
  return Big(body.size() + 8, 4) + std::string(type) + body;
}

const std::string kMatrix =
    Words({0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000});

std::string SampleEntry() {
  std::string entry(6, '\0');
  entry += Big(1, 2);            // data reference
  entry += Words({0, 0, 0, 0});  // version, vendor, qualities
  entry += Big(kSide, 2) + Big(kSide, 2);
  entry += Words({0x480000, 0x480000, 0});     // resolution, data size
  entry += Big(1, 2) + std::string(32, '\0');  // frames, name
  entry += Big(24, 2) + Big(0xffff, 2);        // depth, colour table
  return Box("raw ", {entry});
}

}  // namespace

uint32_t WriteOverlappingChunks(const std::string& path, uint32_t packets,
                                uint8_t shade) {
  const uint32_t chunks = (packets + kPacketsPerChunk - 1) / kPacketsPerChunk;
  const uint32_t count = chunks * kPacketsPerChunk;
  const std::string start = Box("ftyp", {"qt  ", Words({0}), "qt  "});
  const std::string data = Box(
      "mdat",
      {std::string(kPacketsPerChunk * kPacketBytes, static_cast<char>(shade))});
  const auto offset = static_cast<uint32_t>(start.size() + 8);
  std::string offsets;
  for (uint32_t i = 0; i < chunks; ++i) offsets += Big(offset, 4);

  const std::string table =
      Box("stbl", {Box("stsd", {Words({0, 1}), SampleEntry()}),
                   Box("stts", {Words({0, 1, count, 1})}),
                   Box("stss", {Words({0, 1, 1})}),
                   Box("stsc", {Words({0, 1, 1, kPacketsPerChunk, 1})}),
                   Box("stsz", {Words({0, kPacketBytes, count})}),
                   Box("stco", {Words({0, chunks}), offsets})});
  const std::string media =
      Box("mdia",
          {Box("mdhd", {Words({0, 0, 0, kTimescale, count, 0})}),
           Box("hdlr", {Words({0}), "mhlrvide", Words({0, 0, 0}), Big(0, 1)}),
           Box("minf", {Box("vmhd", {Words({1, 0, 0})}),
                        Box("dinf", {Box("dref", {Words({0, 1}),
                                                  Box("url ", {Words({1})})})}),
                        table})});
  const std::string track =
      Box("trak", {Box("tkhd", {Words({3, 0, 0, 1, 0, count, 0, 0, 0, 0}),
                                kMatrix, Words({kSide << 16, kSide << 16})}),
                   media});
  const std::string movie =
      Box("moov",
          {Box("mvhd",
               {Words({0, 0, 0, kTimescale, count, 0x10000, 0x01000000, 0, 0}),
                kMatrix, std::string(24, '\0'), Words({2})}),
           track});
  std::ofstream(path, std::ios::binary) << start << data << movie;
  return count;
}

}  // namespace bulkhead::tests
