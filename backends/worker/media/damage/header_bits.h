// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bulkhead::worker::damage {

// Reads the bits of a header, the most significant bit of each byte first.
// After the end, all bits read as zero. Borrows the bytes.
class HeaderBits {
 public:
  HeaderBits(const uint8_t* data, size_t bytes)
      : data_(data), bits_(bytes * 8) {}

  int Bit() {
    if (at_ >= bits_) return 0;
    const int bit = data_[at_ / 8] >> (7 - at_ % 8) & 1;
    ++at_;
    return bit;
  }
  // Reads `count` bits as one number.
  uint32_t Bits(int count);
  // Reads a number in the Exp-Golomb code of H.264 and HEVC, ue(v).
  uint32_t Ue();

 private:
  const uint8_t* const data_;
  const size_t bits_;
  size_t at_ = 0;
};

// Returns the first `most` bytes of a NAL unit, without the emulation
// prevention bytes (the 03 in 00 00 03).
std::vector<uint8_t> WithoutEscapes(std::span<const uint8_t> unit, size_t most);

// The header of a VP9 packet (VP9 bitstream specification, section 6.2). If the
// packet has several frames (a superframe, annex B), the first one's header.
struct Vp9Header {
  // False for a packet with a single frame that is not shown (show_frame is 0).
  // True for all other packets, also for superframes and malformed headers.
  bool shows = true;
  bool keyframe = false;
};
Vp9Header ReadVp9Header(const uint8_t* data, size_t bytes);

}  // namespace bulkhead::worker::damage
