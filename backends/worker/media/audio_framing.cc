// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/audio_framing.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <string_view>

extern "C" {
#include <libavcodec/ac3_parser.h>
}

namespace bulkhead::worker {
namespace {

// Kilobits per second, by the header's index: MPEG-1 layers I to III, then
// MPEG-2 layer I, and layers II and III.
constexpr std::array<std::array<uint16_t, 15>, 5> kRates = {{
    {0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448},
    {0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384},
    {0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320},
    {0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256},
    {0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160},
}};
constexpr std::array<uint32_t, 3> kFrequencies = {44100, 48000, 32000};

// The words that frames of DTS begin with. The others are those of other byte
// orders and of words of 14 bits.
constexpr uint32_t kDtsCore = 0x7ffe8001;
constexpr uint32_t kDtsExtension = 0x64582025;
constexpr uint32_t kOtherDts[] = {0xfe7f0180, 0x1fffe800, 0xff1f00e8};

uint32_t BigEndian(std::span<const uint8_t> bytes) {
  uint32_t value = 0;
  for (const uint8_t byte : bytes) value = value << 8 | byte;
  return value;
}

bool IsDependentAc3(std::span<const uint8_t> frame) {
  constexpr uint8_t kFirstOfEnhanced = 11;
  constexpr uint8_t kDependent = 1;
  return frame[5] >> 3 >= kFirstOfEnhanced && frame[2] >> 6 == kDependent;
}

}  // namespace

size_t MpegAudioFrameBytes(std::span<const uint8_t> packet) {
  if (packet.size() < 4 || packet[0] != 0xff || (packet[1] & 0xe0) != 0xe0) {
    return 0;
  }
  const unsigned version = (packet[1] >> 3) & 3;  // 3: MPEG-1, 2: 2, 0: 2.5
  const unsigned layer = 4 - ((packet[1] >> 1) & 3);
  const unsigned rate = packet[2] >> 4;
  const unsigned frequency = (packet[2] >> 2) & 3;
  if (version == 1 || layer == 4 || rate == 15 || frequency == 3) return 0;
  const bool first = version == 3;
  const unsigned row = first ? layer - 1 : (layer == 1 ? 3 : 4);
  const size_t bits = size_t{kRates[row][rate]} * 1000;
  if (bits == 0) return 0;
  const size_t hertz =
      kFrequencies[frequency] >> (first ? 0 : (version == 2 ? 1 : 2));
  const size_t padding = (packet[2] >> 1) & 1;
  if (layer == 1) return (12 * bits / hertz + padding) * 4;
  const size_t factor = layer == 3 && !first ? 72 : 144;
  return factor * bits / hertz + padding;
}

size_t AdtsFrameBytes(std::span<const uint8_t> packet) {
  if (packet.size() < 7 || packet[0] != 0xff || (packet[1] & 0xf6) != 0xf0) {
    return 0;
  }
  return size_t{packet[3] & 3u} << 11 | size_t{packet[4]} << 3 | packet[5] >> 5;
}

size_t Ac3FirstFrameBytes(std::span<const uint8_t> packet) {
  uint8_t bitstream_id = 0;
  uint16_t bytes = 0;
  if (av_ac3_parse_header(packet.data(), packet.size(), &bitstream_id, &bytes) <
      0) {
    return 0;
  }
  return bytes;
}

size_t Ac3FrameBytes(std::span<const uint8_t> packet) {
  size_t length = Ac3FirstFrameBytes(packet);
  while (length > 0 && length < packet.size()) {
    const auto rest = packet.subspan(length);
    const size_t next = Ac3FirstFrameBytes(rest);
    if (next == 0 || !IsDependentAc3(rest)) break;
    length += next;
  }
  return length;
}

size_t DtsFrameBytes(std::span<const uint8_t> packet) {
  if (packet.size() < 10) return 0;
  const uint32_t sync = BigEndian(packet.first(4));
  if (std::find(std::begin(kOtherDts), std::end(kOtherDts), sync) !=
      std::end(kOtherDts)) {
    return packet.size();
  }
  size_t length = 0;
  if (sync == kDtsCore) {
    length = (BigEndian(packet.subspan(4, 4)) >> 4 & 0x3fff) + 1;
    if (packet.size() < length + 10) return length;
    packet = packet.subspan(length);
  }
  if (BigEndian(packet.first(4)) != kDtsExtension) return length;
  // Behind the sync word and 8 bits of the user, 2 bits have a number, and one
  // tells how long the lengths of the header and of all are.
  uint64_t bits = 0;
  for (size_t i = 5; i < 10; ++i) bits = bits << 8 | packet[i];
  const bool is_long = (bits >> 37 & 1) != 0;
  return length + (is_long ? bits >> 5 & 0xfffff : bits >> 13 & 0xffff) + 1;
}

size_t MlpFrameBytes(std::span<const uint8_t> packet) {
  if (packet.size() < 4) return 0;
  return 2 * (size_t{packet[0] & 0xfu} << 8 | packet[1]);
}

bool IsTag(std::span<const uint8_t> bytes) {
  for (const std::string_view tag : {"ID3", "TAG", "APETAGEX", "LYRICS"}) {
    if (bytes.size() >= tag.size() &&
        std::memcmp(bytes.data(), tag.data(), tag.size()) == 0) {
      return true;
    }
  }
  return false;
}

}  // namespace bulkhead::worker
