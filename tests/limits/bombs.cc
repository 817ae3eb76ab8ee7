// SPDX-License-Identifier: Apache-2.0
#include "tests/limits/bombs.h"

#include <filesystem>
#include <fstream>
#include <system_error>

namespace bulkhead::tests {
namespace {

using Bytes = std::string;

Bytes Little(uint64_t value, int bytes) {
  Bytes out;
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i));
  return out;
}

Bytes Big(uint64_t value, int bytes) {
  Bytes out = Little(value, bytes);
  return {out.rbegin(), out.rend()};
}

std::string Write(const std::string& directory, const std::string& name,
                  const Bytes& bytes, uint64_t hole = 0) {
  const std::string path = directory + "/" + name;
  std::ofstream(path, std::ios::binary) << bytes;
  std::error_code error;
  std::filesystem::resize_file(path, bytes.size() + hole, error);
  return error ? std::string() : path;
}

// EBML: identifiers are written unchanged, lengths with eight bytes.
Bytes Length(uint64_t bytes) { return Big(bytes | uint64_t{1} << 56, 8); }
Bytes Element(uint32_t id, const Bytes& content) {
  const int bytes = id > 0xffffff ? 4 : id > 0xffff ? 3 : id > 0xff ? 2 : 1;
  return Big(id, bytes) + Length(content.size()) + content;
}
Bytes Number(uint32_t id, uint64_t value) { return Element(id, Big(value, 8)); }

Bytes Track(uint64_t number, uint64_t type, const Bytes& codec,
            const Bytes& more) {
  constexpr uint32_t kTrackEntry = 0xae, kNumber = 0xd7, kUid = 0x73c5,
                     kType = 0x83, kCodec = 0x86;
  return Element(kTrackEntry, Number(kNumber, number) + Number(kUid, number) +
                                  Number(kType, type) + Element(kCodec, codec) +
                                  more);
}

}  // namespace

std::string WriteGreyFrames(const std::string& directory, uint32_t width,
                            uint32_t height, uint32_t frames) {
  Bytes file = "YUV4MPEG2 W" + std::to_string(width) + " H" +
               std::to_string(height) + " F25:1 Ip A1:1 Cmono\n";
  for (uint32_t i = 0; i < frames; ++i) {
    file += "FRAME\n" + Bytes(size_t{width} * height, static_cast<char>(i));
  }
  return Write(directory, "grey.y4m", file);
}

std::string WriteFlatBmp(const std::string& directory, uint32_t width,
                         uint32_t height) {
  constexpr uint32_t kHeaders = 14 + 40 + 4 * 256;
  constexpr uint32_t kRunLengths8 = 1;
  const Bytes pixels("\0\1", 2);  // the end of the picture
  Bytes file = "BM" + Little(kHeaders + pixels.size(), 4) + Little(0, 4) +
               Little(kHeaders, 4);
  file += Little(40, 4) + Little(width, 4) + Little(height, 4) + Little(1, 2) +
          Little(8, 2) + Little(kRunLengths8, 4) + Little(pixels.size(), 4) +
          Little(0, 16);
  file += Bytes(size_t{4} * 256, '\x40') + pixels;
  return Write(directory, "flat.bmp", file);
}

std::string WriteMatroska(const std::string& directory,
                          const MatroskaBomb& bomb) {
  constexpr uint32_t kEbml = 0x1a45dfa3, kDocType = 0x4282,
                     kSegment = 0x18538067, kTracks = 0x1654ae6b,
                     kCluster = 0x1f43b675, kTimestamp = 0xe7,
                     kSimpleBlock = 0xa3, kVideo = 0xe0, kWidth = 0xb0,
                     kHeight = 0xba, kColourSpace = 0x2eb524;
  Bytes tracks = Track(1, 1, "V_UNCOMPRESSED",
                       Element(kVideo, Number(kWidth, bomb.width) +
                                           Number(kHeight, bomb.height) +
                                           Element(kColourSpace, "Y800")));
  for (uint32_t i = 0; i < bomb.subtitles; ++i) {
    tracks += Track(2 + i, 17, "S_TEXT/UTF8", {});
  }
  const Bytes header = Element(kEbml, Element(kDocType, "matroska")) +
                       Big(kSegment, 4) + Length((uint64_t{1} << 56) - 1) +
                       Element(kTracks, tracks) + Big(kCluster, 4) +
                       Length((uint64_t{1} << 56) - 1) + Number(kTimestamp, 0);
  const Bytes block_header("\x81\0\0\x80", 4);
  const Bytes block = Big(kSimpleBlock, 1) +
                      Length(block_header.size() + bomb.block_bytes) +
                      block_header;
  return Write(directory, "bomb.mkv", header + block, bomb.block_bytes);
}

}  // namespace bulkhead::tests
