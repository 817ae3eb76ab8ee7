// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/packet_role.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

extern "C" {
#include <libavcodec/avcodec.h>
}

#include "backends/worker/media/header_bits.h"

namespace bulkhead::worker {
namespace {

using Bytes = std::span<const uint8_t>;

// No sound packet has as many NAL units.
constexpr int kMostUnits = 1 << 12;

// Calls `use` with each NAL unit of `data` that is not empty, from its header
// byte on. With start codes, a unit may have zero bytes behind it.
template <typename Use>
void ForEachUnit(Bytes data, uint32_t length_bytes, const Use& use) {
  for (int units = 0; units < kMostUnits && data.size() > 3; ++units) {
    if (length_bytes > 0) {
      size_t bytes = 0;
      for (uint32_t i = 0; i < length_bytes; ++i) bytes = bytes << 8 | data[i];
      data = data.subspan(length_bytes);
      bytes = std::min(bytes, data.size());
      if (bytes > 0) use(data.first(bytes));
      data = data.subspan(bytes);
      continue;
    }
    static constexpr uint8_t kStart[] = {0, 0, 1};
    const auto start = std::search(data.begin(), data.end(), std::begin(kStart),
                                   std::end(kStart));
    if (data.end() - start <= 3) return;
    data = data.subspan(static_cast<size_t>(start - data.begin()) + 3);
    const auto next = std::search(data.begin(), data.end(), std::begin(kStart),
                                  std::end(kStart));
    if (next != data.begin()) {
      use(data.first(static_cast<size_t>(next - data.begin())));
    }
  }
}

// Returns whether there are so many zeroes inside a NAL unit. Encoders put a 3
// behind two (ITU-T H.264 and H.265, section 7.4.1); only at the end of a unit
// have muxers left some.
bool HasZeroes(Bytes unit) {
  constexpr ptrdiff_t kMost = 8;
  // Uses memchr, because the scan of a file searches all of its pictures.
  const auto next_zero = [&](Bytes::iterator from) {
    const auto left = static_cast<size_t>(unit.end() - from);
    const void* found = left > 0 ? std::memchr(&*from, 0, left) : nullptr;
    return found == nullptr
               ? unit.end()
               : from + (static_cast<const uint8_t*>(found) - &*from);
  };
  for (auto at = next_zero(unit.begin()); at != unit.end();) {
    const auto end =
        std::find_if(at, unit.end(), [](uint8_t byte) { return byte != 0; });
    if (end - at >= kMost && end != unit.end()) return true;
    at = next_zero(end);
  }
  return false;
}

// Returns whether a NAL unit that has its length in front ends in more zeroes
// than encoders leave that fill up words (16 bytes on Android). Behind a start
// code, zeroes of any number are padding.
bool EndsInZeroes(Bytes unit) {
  constexpr size_t kMost = 64;
  return unit.size() >= kMost &&
         std::all_of(unit.end() - kMost, unit.end(),
                     [](uint8_t byte) { return byte == 0; });
}

// Returns whether a packet begins where no encoder writes zeroes. Decoders of
// MPEG pass over such a packet without an error.
bool BeginsInZeroes(Bytes packet) {
  constexpr size_t kMost = 16;
  return packet.size() >= kMost &&
         std::all_of(packet.begin(), packet.begin() + kMost,
                     [](uint8_t byte) { return byte == 0; });
}

uint32_t LengthBytes(int codec, Bytes extradata) {
  if (extradata.empty() || extradata[0] != 1) return 0;
  const size_t at = codec == AV_CODEC_ID_H264 ? 4 : 21;
  return extradata.size() > at ? (extradata[at] & 3) + 1 : 0;
}

// Returns recovery_frame_cnt of the recovery point that an H.264 SEI unit
// holds, or -1 if it holds none (ITU-T H.264, sections 7.3.2.3.1 and D.1.8).
int64_t RecoveryCount(Bytes unit) {
  constexpr uint32_t kRecoveryPoint = 6;
  const std::vector<uint8_t> payload = WithoutEscapes(unit.subspan(1), 512);
  const Bytes rest(payload);
  for (size_t at = 0; at + 2 < rest.size();) {
    uint32_t number[2] = {};  // type, bytes
    for (uint32_t& value : number) {
      while (at < rest.size() && rest[at] == 0xff) value += rest[at++];
      if (at < rest.size()) value += rest[at++];
    }
    if (number[0] == kRecoveryPoint) {
      HeaderBits bits(rest.data() + at, rest.size() - at);
      return bits.Ue();
    }
    at += number[1];
  }
  return -1;
}

// What the header of an H.264 slice begins with (ITU-T H.264, section 7.3.3).
struct SliceHeader {
  explicit SliceHeader(Bytes unit) {
    HeaderBits bits(unit.data() + 1, unit.size() - 1);
    begins = bits.Ue() == 0;
    // From 5 on, the type is that of all slices of the picture.
    const uint32_t type = bits.Ue();
    b = type == 1 || type == 6;
    intra = type == 2 || type == 4 || type == 7 || type == 9;
  }

  bool begins;  // with the first macroblock of a picture
  bool b;
  bool intra;
};

// Returns whether the packet of MPEG-1 or MPEG-2 begins a group of pictures
// that is closed (ITU-T H.262, section 6.3.8): its header has 25 bits of time,
// and then the flag.
bool IsClosedGroup(Bytes packet) {
  constexpr int kGroup = 0xb8;
  constexpr int kPicture = 0;
  bool closed = false;
  bool found = false;
  ForEachUnit(packet.first(std::min<size_t>(packet.size(), 1024)), 0,
              [&](Bytes unit) {
                found = found || unit[0] == kPicture;
                if (found || unit[0] != kGroup || unit.size() < 5) return;
                closed = (unit[4] & 0x40) != 0;
              });
  return closed;
}

}  // namespace

RoleReader::RoleReader(const AVCodecParameters& parameters)
    : codec_(parameters.codec_id) {
  const AVCodecDescriptor* codec = avcodec_descriptor_get(parameters.codec_id);
  intra_only_ =
      codec != nullptr && (codec->props & AV_CODEC_PROP_INTRA_ONLY) != 0;
  const Bytes extradata(
      parameters.extradata,
      parameters.extradata == nullptr
          ? 0
          : static_cast<size_t>(std::max(parameters.extradata_size, 0)));
  if (codec_ != AV_CODEC_ID_H264 && codec_ != AV_CODEC_ID_HEVC) return;
  length_bytes_ = LengthBytes(codec_, extradata);
  if (codec_ == AV_CODEC_ID_HEVC && length_bytes_ > 0) {
    highest_layer_ = (extradata[21] >> 3 & 7) - 1;
  }
}

PacketRole RoleReader::Read(const bulkhead_packet& packet, int parsed_type) {
  PacketRole role;
  role.keyframe = (packet.flags & BULKHEAD_PACKET_KEYFRAME) != 0;
  role.entry = role.keyframe || intra_only_;
  switch (codec_) {
    case AV_CODEC_ID_H264:
      ReadH264(packet, role);
      break;
    case AV_CODEC_ID_HEVC:
      ReadHevc(packet, role);
      break;
    case AV_CODEC_ID_MPEG1VIDEO:
    case AV_CODEC_ID_MPEG2VIDEO:
    case AV_CODEC_ID_MPEG4:
      if (parsed_type == AV_PICTURE_TYPE_NONE) {
        role.overwritten = BeginsInZeroes({packet.data, packet.bytes});
        role.entry = role.entry && !role.overwritten;
        break;
      }
      role.closed = codec_ != AV_CODEC_ID_MPEG4 &&
                    IsClosedGroup({packet.data, packet.bytes});
      role.entry = parsed_type == AV_PICTURE_TYPE_I;
      role.b_picture = parsed_type == AV_PICTURE_TYPE_B;
      role.referred = !role.b_picture;
      break;
    case AV_CODEC_ID_VP8:
      role.entry = role.keyframe && packet.bytes > 0 && !(packet.data[0] & 1);
      break;
    case AV_CODEC_ID_VP9:
      role.entry =
          role.keyframe && ReadVp9Header(packet.data, packet.bytes).keyframe;
      break;
    default:
      break;
  }
  return role;
}

void RoleReader::ReadH264(const bulkhead_packet& packet,
                          PacketRole& role) const {
  bool has_slice = false;
  bool second_field = false;
  bool intra = true;  // the first field, or the frame
  bool all_b = true;
  bool referred = false;
  bool false_idr = false;
  int64_t recovery = -1;
  ForEachUnit({packet.data, packet.bytes}, length_bytes_, [&](Bytes unit) {
    // forbidden_zero_bit: decoders pass over such a unit.
    if ((unit[0] & 0x80) != 0) return;
    const int type = unit[0] & 0x1f;
    if (type == 6 && recovery < 0) recovery = RecoveryCount(unit);
    if (type != 1 && type != 2 && type != 5) return;
    const SliceHeader slice(unit);
    // Of an IDR picture, each slice is intra coded, and no shorter than this.
    // Its second field may be of another type, but no other picture has a slice
    // of type 5 behind its first.
    constexpr size_t kShortestIdr = 4;
    const bool idr = type == 5 && slice.intra && unit.size() >= kShortestIdr &&
                     (!has_slice || role.closed);
    if (type == 5 && !idr) {
      false_idr = true;
      return;
    }
    role.closed = role.closed || idr;
    second_field = second_field || (has_slice && slice.begins);
    intra = intra && (second_field || slice.intra);
    all_b = all_b && slice.b && type == 1;
    referred = referred || (unit[0] & 0x60) != 0;
    role.overwritten =
        role.overwritten || HasZeroes(unit) || (!has_slice && !slice.begins);
    has_slice = true;
  });
  // A decoder forgets all pictures before a false one too, so what follows is
  // damaged whatever picture the packet has.
  role.overwritten = role.overwritten || false_idr;
  role.referred = !has_slice || referred || false_idr;
  role.b_picture = has_slice && all_b && !false_idr;
  role.entry = role.closed || recovery == 0 ||
               (recovery < 0 && role.keyframe && has_slice && intra);
  if (!role.entry && recovery > 0 && has_slice) {
    role.refresh = static_cast<uint32_t>(recovery);
  }
}

void RoleReader::ReadHevc(const bulkhead_packet& packet, PacketRole& role) {
  bool has_slice = false;
  int type_of_slices = 0;
  bool entry = false;
  bool behind_end = false;
  ForEachUnit({packet.data, packet.bytes}, length_bytes_, [&](Bytes unit) {
    constexpr int kMostSlices = 31;
    constexpr int kParameterSet = 33;
    constexpr int kEndOfSequence = 36;
    constexpr int kEndOfBitstream = 37;
    // forbidden_zero_bit: decoders pass over such a unit.
    if ((unit[0] & 0x80) != 0) return;
    const int type = unit[0] >> 1 & 0x3f;
    if (type == kEndOfSequence || type == kEndOfBitstream) {
      (has_slice ? role.ends_sequence : behind_end) = true;
    }
    if (unit.size() < 3) return;
    const int layer = (unit[1] & 7) - 1;
    const bool is_base = (unit[0] & 1) == 0 && unit[1] >> 3 == 0;
    if (!is_base) return;
    if (type == kParameterSet) {
      highest_layer_ = std::max(highest_layer_, unit[2] >> 1 & 7);
    }
    if (type > kMostSlices) return;
    // Decoders of H.264 notice that bits are missing; those of HEVC do not.
    role.overwritten = role.overwritten || HasZeroes(unit) ||
                       (length_bytes_ > 0 && EndsInZeroes(unit));
    // All slices of a picture have one type, and the first says so itself
    // (ITU-T H.265, sections 7.4.2.2 and 7.4.7.1).
    const bool begins = (unit[2] & 0x80) != 0;
    if (has_slice) {
      role.overwritten = role.overwritten || type != type_of_slices;
      return;
    }
    role.overwritten = role.overwritten || !begins;
    has_slice = true;
    type_of_slices = type;
    entry = type >= 16 && type <= 21;
    role.closed = type == 20;  // IDR_N_LP
    role.begins_sequence = behind_end || (type >= 16 && type <= 20);
    role.alone = type == 6 || type == 7;
    role.skipped_leading = type == 8 || type == 9;
    role.referred = type > 14 || type % 2 != 0 || layer != highest_layer_;
    role.b_picture = !role.referred;
  });
  role.entry = entry;
}

}  // namespace bulkhead::worker
