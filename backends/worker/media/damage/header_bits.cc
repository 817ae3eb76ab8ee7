// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/damage/header_bits.h"

namespace bulkhead::worker::damage {
namespace {

constexpr uint32_t kVp9SyncCode = 0x498342;

}  // namespace

uint32_t HeaderBits::Bits(int count) {
  uint32_t value = 0;
  for (; count > 0; --count) value = value << 1 | static_cast<uint32_t>(Bit());
  return value;
}

uint32_t HeaderBits::Ue() {
  int zeroes = 0;
  while (zeroes < 31 && at_ < bits_ && Bit() == 0) ++zeroes;
  return (uint32_t{1} << zeroes) - 1 + Bits(zeroes);
}

std::vector<uint8_t> WithoutEscapes(std::span<const uint8_t> unit,
                                    size_t most) {
  std::vector<uint8_t> bytes;
  int zeroes = 0;
  for (const uint8_t byte : unit) {
    if (bytes.size() == most) break;
    if (zeroes >= 2 && byte == 3) {
      zeroes = 0;
      continue;
    }
    zeroes = byte == 0 ? zeroes + 1 : 0;
    bytes.push_back(byte);
  }
  return bytes;
}

Vp9Header ReadVp9Header(const uint8_t* data, size_t bytes) {
  Vp9Header read;
  if (bytes == 0) return read;
  const bool superframe = (data[bytes - 1] & 0xe0) == 0xc0;
  HeaderBits header(data, bytes);
  if (header.Bits(2) != 2) return read;  // frame marker
  const int low = header.Bit();
  const int profile = low + 2 * header.Bit();
  if (profile == 3) header.Bit();
  const bool shows_existing = header.Bit() != 0;
  if (shows_existing) return read;
  const bool inter = header.Bit() != 0;
  read.shows = header.Bit() != 0 || superframe;
  header.Bit();  // error_resilient_mode
  read.keyframe = !inter && header.Bits(24) == kVp9SyncCode;
  return read;
}

}  // namespace bulkhead::worker::damage
