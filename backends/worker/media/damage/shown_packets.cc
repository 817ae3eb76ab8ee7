// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/damage/shown_packets.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <iterator>
#include <string>

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavutil/intreadwrite.h>
#include <libavutil/macros.h>
}

#include "backends/worker/media/damage/av1_units.h"
#include "backends/worker/media/damage/header_bits.h"
#include "backends/worker/media/damage/start_codes.h"

namespace bulkhead::worker::damage {
namespace {

using Bytes = std::span<const uint8_t>;

// The bytes of a packet of MPEG in which headers are searched.
constexpr size_t kHeadersBytes = 4096;

bool Vp8Shows(Bytes packet) {
  return packet.empty() || (packet[0] & 0x10) != 0;
}

// Reads the parse info headers of a Dirac packet (SMPTE 2042-1, section 10.5).
bool DiracShows(Bytes packet) {
  constexpr size_t kHeaderBytes = 13;
  bool found = false;
  while (packet.size() >= kHeaderBytes &&
         AV_RB32(packet.data()) == AV_RB32("BBCD")) {
    if ((packet[4] & 8) != 0) return true;
    found = true;
    const size_t next = AV_RB32(packet.data() + 5);
    if (next < kHeaderBytes || next > packet.size()) break;
    packet = packet.subspan(next);
  }
  return !found;
}

// Returns whether `unit` is the header of a video object layer of MPEG-4.
bool IsMpeg4Layer(Bytes unit) {
  return !unit.empty() && unit[0] >= 0x20 && unit[0] <= 0x2f;
}

// Returns the number of bits of the time in the header of each VOP of a layer;
// 0 if the number is unknown (ISO/IEC 14496-2, section 6.2.3).
int Mpeg4TimeBits(Bytes layer) {
  HeaderBits bits(layer.data() + 1, layer.size() - 1);
  bits.Bit();  // random access
  constexpr uint32_t kSimpleStudio = 14;
  constexpr uint32_t kCoreStudio = 15;
  const uint32_t type = bits.Bits(8);
  // Layers of the studio profiles have other headers.
  if (type == kSimpleStudio || type == kCoreStudio) return 0;
  uint32_t version = 1;
  if (bits.Bit() != 0) {
    version = bits.Bits(4);
    bits.Bits(3);  // priority
  }
  if (bits.Bits(4) == 15) bits.Bits(16);  // aspect ratio
  if (bits.Bit() != 0) {                  // control parameters
    bits.Bits(3);
    if (bits.Bit() != 0) {
      for (int i = 0; i < 79; ++i) bits.Bit();  // buffer
    }
  }
  constexpr uint32_t kGrayscale = 3;
  const uint32_t shape = bits.Bits(2);
  if (shape == kGrayscale && version != 1) bits.Bits(4);
  bits.Bit();  // marker
  const uint32_t resolution = bits.Bits(16);
  if (resolution == 0) return 0;
  return std::max(static_cast<int>(std::bit_width(resolution - 1)), 1);
}

}  // namespace

ShownPackets::ShownPackets(const AVCodecParameters& parameters)
    : codec_(parameters.codec_id) {
  if (parameters.extradata == nullptr) return;
  const Bytes data(parameters.extradata,
                   static_cast<size_t>(std::max(parameters.extradata_size, 0)));
  if (codec_ == AV_CODEC_ID_MPEG4) {
    ForEachStartCode(data, [this](Bytes unit) { ReadMpeg4Header(unit); });
  } else if (codec_ == AV_CODEC_ID_AV1 && data.size() > kAv1RecordBytes) {
    ReadAv1(data.subspan(kAv1RecordBytes));
  }
}

bool ShownPackets::Read(const bulkhead_packet& packet) {
  const Bytes data(packet.data, packet.bytes);
  drops_held_ = false;
  switch (codec_) {
    case AV_CODEC_ID_VP8:
      return Vp8Shows(data);
    case AV_CODEC_ID_VP9:
      return ReadVp9Header(packet.data, packet.bytes).shows;
    case AV_CODEC_ID_AV1:
      return ReadAv1(data);
    case AV_CODEC_ID_MPEG4:
      return ReadMpeg4(data);
    case AV_CODEC_ID_MPEG1VIDEO:
    case AV_CODEC_ID_MPEG2VIDEO:
      return ReadMpeg2(data);
    case AV_CODEC_ID_DIRAC:
      return DiracShows(data);
    case AV_CODEC_ID_THEORA:
      return data.empty() || (data[0] & 0x80) == 0;
    default:
      return true;
  }
}

// Reads the units of a packet (AV1 bitstream specification, sections 5.5.1 and
// 5.9.2).
bool ShownPackets::ReadAv1(Bytes packet) {
  if (packet.empty()) return true;
  bool shows = false;
  const bool sound = ForEachAv1Unit(packet, [&](uint32_t type, Bytes payload) {
    HeaderBits bits(payload.data(), payload.size());
    if (type == kAv1SequenceHeader) {
      bits.Bits(4);  // profile, still picture
      is_reduced_ = bits.Bit() != 0;
    } else if (type == kAv1Frame || type == kAv1FrameHeader) {
      // The reduced header of a still picture has neither of the two flags.
      const bool shows_existing = bits.Bit() != 0;
      bits.Bits(2);  // type
      shows = shows || is_reduced_ || shows_existing || bits.Bit() != 0;
    }
  });
  return shows || !sound;
}

// Reads time_bits_ from the header of a video object layer, and packs_ from
// user data (ISO/IEC 14496-2, section 6.2.2.1).
void ShownPackets::ReadMpeg4Header(Bytes unit) {
  constexpr uint8_t kUserData = 0xb2;
  if (unit[0] == kUserData) {
    const std::string text(
        unit.begin() + 1,
        unit.begin() + std::min<ptrdiff_t>(std::ssize(unit), 64));
    int version = 0;
    int build = 0;
    char last = 0;
    if (std::sscanf(text.c_str(), "DivX%dBuild%d%c", &version, &build, &last) ==
            3 ||
        std::sscanf(text.c_str(), "DivX%db%d%c", &version, &build, &last) ==
            3) {
      packs_ = last == 'p';
    }
    return;
  }
  if (IsMpeg4Layer(unit)) time_bits_ = Mpeg4TimeBits(unit);
}

bool ShownPackets::IsCoded(Bytes vop) const {
  constexpr int kMostSeconds = 1 << 10;
  if (time_bits_ == 0) return true;
  HeaderBits bits(vop.data() + 1, vop.size() - 1);
  bits.Bits(2);  // type
  // modulo_time_base: a bit 1 for each second, then 0.
  for (int i = 0; i < kMostSeconds && bits.Bit() != 0; ++i) {
  }
  bits.Bit();
  bits.Bits(time_bits_);
  // The marker bit 1 must follow. If it does not, the layer's header does not
  // belong to this VOP, which then counts as coded. Then comes vop_coded.
  return bits.Bit() == 0 || bits.Bit() != 0;
}

bool ShownPackets::ReadMpeg4(Bytes packet) {
  constexpr uint8_t kVop = 0xb6;
  constexpr uint8_t kPredicted = 0x40;
  constexpr uint8_t kXvidDelay = 0x7f;  // a whole packet
  if (packet.size() == 1 && packet[0] == kXvidDelay) return false;
  constexpr size_t kLeastPacked = 8;
  int vops = 0;
  bool is_coded = false;
  // Says for the first and for the second VOP whether libavcodec may keep it.
  std::array<bool, 2> is_held{};
  const Bytes searched =
      packs_ ? packet : packet.first(std::min(packet.size(), kHeadersBytes));
  const bool found = ForEachStartCode(searched, [&](Bytes unit) {
    ReadMpeg4Header(unit);
    if (unit.size() < 2 || unit[0] != kVop) return;
    if (vops == 0) is_coded = IsCoded(unit);
    if (vops < 2) {
      is_held[static_cast<size_t>(vops)] =
          packs_ && (unit[1] & kPredicted) == 0;
    }
    ++vops;
  });
  if (!found || (vops == 0 && searched.size() < packet.size())) return true;
  if (vops == 0) return is_coded;
  // libavcodec keeps the second VOP of a packet and shows it for the next
  // packet, unless that VOP is a P-VOP. While libavcodec keeps a VOP, it keeps
  // the first VOP of the next packet in its turn, not the second.
  const bool shows_packed = holds_packed_;
  holds_packed_ =
      shows_packed ? is_held[0] && packet.size() >= kLeastPacked : is_held[1];
  has_packed_ = has_packed_ || holds_packed_;
  return shows_packed || is_coded;
}

bool ShownPackets::ReadMpeg2(Bytes packet) {
  constexpr uint8_t kLastSlice = 0xaf;
  constexpr uint8_t kSequence = 0xb3;
  constexpr uint8_t kExtension = 0xb5;
  bool has_picture = false;
  bool found_sequence = false;
  std::array<uint8_t, 6> new_sequence{};
  int height = 0;
  bool delays = true;
  const Bytes searched = packet.first(std::min(packet.size(), kHeadersBytes));
  const bool found = ForEachStartCode(searched, [&](Bytes unit) {
    // A picture begins with 0. Slices alone mean a damaged picture header.
    has_picture = has_picture || unit[0] <= kLastSlice;
    // The size and the aspect ratio (ITU-T H.262, section 6.2.2.1).
    if (unit[0] == kSequence && unit.size() > 4) {
      found_sequence = true;
      new_sequence = {unit[1], unit[2], unit[3],
                      static_cast<uint8_t>(unit[4] & 0xf0)};
      height = (unit[2] & 0xf) << 8 | unit[3];
    }
    // More bits of the size, and whether frames are progressive. The latter
    // matters only if fields need a larger buffer (section 6.2.2.3).
    if (unit[0] == kExtension && unit.size() > 6 && unit[1] >> 4 == 1 &&
        found_sequence) {
      const int mask = FFALIGN(height, 16) != FFALIGN(height, 32) ? 0x09 : 0x01;
      new_sequence[4] = static_cast<uint8_t>(unit[2] & mask);
      new_sequence[5] = static_cast<uint8_t>(unit[3] & 0xe0);
      delays = (unit[6] & 0x80) == 0;  // low_delay
    }
  });
  if (!found) return true;
  if (found_sequence) {
    drops_held_ = holds_ && has_sequence_ && new_sequence != sequence_;
    has_sequence_ = true;
    sequence_ = new_sequence;
    is_delayed_ = delays;
  }
  const bool shows = has_picture || searched.size() < packet.size();
  // A packet with only the end of a sequence makes libavcodec give the held
  // picture.
  constexpr size_t kEndBytes = 4;
  if (shows || packet.size() == kEndBytes) holds_ = shows && is_delayed_;
  return shows;
}

}  // namespace bulkhead::worker::damage
