// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/audio_checksum.h"

#include <cstddef>
#include <optional>
#include <span>

#include "backends/worker/media/audio_framing.h"

extern "C" {
#include <libavutil/crc.h>
}

namespace bulkhead::worker {
namespace {

// So many checksums must have been right.
constexpr int64_t kRule = 4;
// Zeroes behind the bytes of a packet (packet-2 in bulkhead_backend.h).
constexpr size_t kPacketPadding = 64;

uint32_t Crc(uint32_t before, std::span<const uint8_t> bytes) {
  return av_crc(av_crc_get_table(AV_CRC_16_ANSI), before, bytes.data(),
                bytes.size());
}

// The following return whether the checksum is right, or nullopt if the packet
// has none.

std::optional<bool> CheckAc3(std::span<const uint8_t> packet) {
  constexpr size_t kSyncBytes = 2;  // which are not checked
  const size_t frames = Ac3FrameBytes(packet);
  if (frames <= kSyncBytes || frames > packet.size()) return std::nullopt;
  packet = packet.first(frames);
  while (!packet.empty()) {
    const size_t length = Ac3FirstFrameBytes(packet);
    if (length <= kSyncBytes || length > packet.size()) return std::nullopt;
    if (Crc(0, packet.subspan(kSyncBytes, length - kSyncBytes)) != 0) {
      return false;
    }
    packet = packet.subspan(length);
  }
  return true;
}

std::optional<bool> CheckMp3(std::span<const uint8_t> packet) {
  constexpr size_t kHeaderBytes = 4;
  constexpr size_t kChecksumBytes = 2;
  if (MpegAudioFrameBytes(packet) == 0) return std::nullopt;
  const bool has_none = (packet[1] & 1) != 0;
  const bool is_mpeg1 = (packet[1] & 0x18) == 0x18;
  const bool is_mono = (packet[3] & 0xc0) == 0xc0;
  const size_t checked = is_mpeg1 ? (is_mono ? 17 : 32) : (is_mono ? 9 : 17);
  if (has_none || packet.size() < kHeaderBytes + kChecksumBytes + checked) {
    return std::nullopt;
  }
  uint32_t sum = Crc(0xffff, packet.subspan(2, 2));
  sum = Crc(sum, packet.subspan(kHeaderBytes + kChecksumBytes, checked));
  return Crc(sum, packet.subspan(kHeaderBytes, kChecksumBytes)) == 0;
}

}  // namespace

AudioChecksum::AudioChecksum(std::string_view codec)
    : kind_(codec == "ac3" || codec == "eac3" ? Kind::kAc3
            : codec == "mp3"                  ? Kind::kMp3
                                              : Kind::kNone) {}

bool AudioChecksum::IsWrong(const bulkhead_packet& packet) {
  if (kind_ == Kind::kNone) return false;
  const std::span<const uint8_t> bytes(packet.data, packet.bytes);
  const auto is_right = kind_ == Kind::kAc3 ? CheckAc3(bytes) : CheckMp3(bytes);
  if (!is_right) return false;
  ++(*is_right ? right_ : wrong_);
  return !*is_right && right_ >= kRule && right_ > wrong_;
}

RawAc3::RawAc3(std::string_view container)
    : is_raw_(container == "ac3" || container == "eac3") {}

bulkhead_packet RawAc3::FramesOf(const bulkhead_packet& packet) {
  const std::span<const uint8_t> bytes(packet.data, packet.bytes);
  const size_t length = is_raw_ ? Ac3FrameBytes(bytes) : 0;
  if (length == 0 || length >= bytes.size()) return packet;
  const auto rest = bytes.subspan(length);
  const bool is_frame = rest.size() > 1 && rest[0] == 0x0b && rest[1] == 0x77;
  if (!IsTag(rest) && (is_frame || !CheckAc3(bytes).value_or(false))) {
    return packet;
  }
  frames_.assign(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(length));
  frames_.resize(length + kPacketPadding);
  bulkhead_packet frames = packet;
  frames.data = frames_.data();
  frames.bytes = length;
  return frames;
}

bool IsOneFlacFrame(const bulkhead_packet& packet) {
  return packet.bytes > 2 && Crc(0, {packet.data, packet.bytes}) == 0;
}

}  // namespace bulkhead::worker
