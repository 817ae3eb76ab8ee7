// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/damage/packet_role.h"

#include <algorithm>
#include <span>
#include <vector>

extern "C" {
#include <libavcodec/avcodec.h>
}

#include "backends/worker/media/damage/header_bits.h"
#include "backends/worker/media/damage/nal_units.h"
#include "backends/worker/media/damage/start_codes.h"

namespace bulkhead::worker::damage {
namespace {

using Bytes = std::span<const uint8_t>;

// Returns recovery_frame_cnt of the recovery point in an H.264 SEI unit, or -1
// if there is none (ITU-T H.264, section D.1.8).
int64_t RecoveryCount(Bytes unit) {
  constexpr uint32_t kRecoveryPoint = 6;
  int64_t count = -1;
  ForEachSeiMessage(unit, 1, [&count](uint32_t type, Bytes payload) {
    if (type != kRecoveryPoint || count >= 0) return;
    HeaderBits bits(payload.data(), payload.size());
    count = bits.Ue();
  });
  return count;
}

// The start of the header of an H.264 slice (ITU-T H.264, section 7.3.3).
struct SliceHeader {
  explicit SliceHeader(Bytes unit) {
    HeaderBits bits(unit.data() + 1, unit.size() - 1);
    begins = bits.Ue() == 0;
    // From 5 on, the type holds for all slices of the picture.
    const uint32_t type = bits.Ue();
    b = type == 1 || type == 6;
    intra = type == 2 || type == 4 || type == 7 || type == 9;
  }

  bool begins;  // the slice begins with the first macroblock of a picture
  bool b;
  bool intra;
};

// Returns whether the packet of MPEG-1 or MPEG-2 begins a closed group of
// pictures. The flag stands after 25 bits of time in the header of the group
// (ITU-T H.262, section 6.3.8).
bool IsClosedGroup(Bytes packet) {
  constexpr int kGroup = 0xb8;
  constexpr int kPicture = 0;
  bool closed = false;
  bool found = false;
  ForEachStartCode(packet.first(std::min<size_t>(packet.size(), 1024)),
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
  length_bytes_ = NalLengthBytes(codec_ == AV_CODEC_ID_HEVC, extradata);
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
        // A picture whose headers cannot be read cannot be decoded.
        role.entry = false;
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
  constexpr int kLastOther = 23;
  bool has_slice = false;
  bool has_other = false;
  bool has_unknown = false;
  bool second_field = false;
  bool intra = true;  // the first field, or the frame
  bool all_b = true;
  bool referred = false;
  int64_t recovery = -1;
  ForEachNalUnit({packet.data, packet.bytes}, length_bytes_, [&](Bytes unit) {
    const int type = unit[0] & 0x1f;
    // Decoders skip a unit whose forbidden_zero_bit is set.
    if ((unit[0] & 0x80) != 0 || type == 0 || type > kLastOther) {
      has_unknown = true;
      return;
    }
    // 1: slice, 2: first partition of a slice, 5: slice of an IDR picture, 6:
    // SEI (ITU-T H.264, table 7-1).
    if (type == 6 && recovery < 0) recovery = RecoveryCount(unit);
    if (type != 1 && type != 2 && type != 5) {
      has_other = true;
      return;
    }
    const SliceHeader slice(unit);
    // Each slice of an IDR picture is intra coded and has at least 4 bytes.
    constexpr size_t kShortestIdr = 4;
    const bool idr = type == 5 && slice.intra && unit.size() >= kShortestIdr &&
                     (!has_slice || role.closed);
    role.closed = role.closed || idr;
    // The second slice that begins a picture is the first of the second field.
    second_field = second_field || (has_slice && slice.begins);
    intra = intra && (second_field || slice.intra) && (type != 5 || idr);
    all_b = all_b && slice.b && type == 1;
    referred = referred || (unit[0] & 0x60) != 0;
    has_slice = true;
  });
  role.has_picture = has_slice || has_unknown || !has_other;
  role.referred = !has_slice || referred;
  role.b_picture = has_slice && all_b;
  role.exact = has_slice && intra && (role.closed || recovery == 0);
  role.entry = role.closed || recovery == 0 ||
               (recovery < 0 && role.keyframe && has_slice && intra);
  if (!role.entry && recovery > 0 && has_slice) {
    role.refresh = static_cast<uint32_t>(recovery);
  }
}

void RoleReader::ReadHevc(const bulkhead_packet& packet, PacketRole& role) {
  constexpr int kMostSlices = 31;
  constexpr int kParameterSet = 33;
  constexpr int kEndOfSequence = 36;
  constexpr int kEndOfBitstream = 37;
  bool has_slice = false;
  bool has_other = false;
  bool has_unknown = false;
  bool after_end = false;
  role.entry = false;
  ForEachNalUnit({packet.data, packet.bytes}, length_bytes_, [&](Bytes unit) {
    // Decoders skip a unit whose forbidden_zero_bit is set.
    if ((unit[0] & 0x80) != 0 || unit.size() < 2) {
      has_unknown = true;
      return;
    }
    const int type = unit[0] >> 1 & 0x3f;
    // An end before the picture is the end of the previous sequence.
    if (type == kEndOfSequence || type == kEndOfBitstream) {
      (has_slice ? role.ends_sequence : after_end) = true;
    }
    const int layer = (unit[1] & 7) - 1;
    const bool is_base = (unit[0] & 1) == 0 && unit[1] >> 3 == 0;
    if (is_base && type == kParameterSet && unit.size() > 2) {
      highest_layer_ = std::max(highest_layer_, unit[2] >> 1 & 7);
    }
    if (!is_base || type > kMostSlices) {
      has_other = true;
      return;
    }
    if (unit.size() < 3) {
      has_unknown = true;
      return;
    }
    if (has_slice) {
      role.sliced = true;
      return;
    }
    // All slices of a picture have one type (ITU-T H.265, section 7.4.2.2). 6,
    // 7: RADL, 8, 9: RASL, 16 to 18: BLA, 19, 20: IDR, 21: CRA. Up to 14, no
    // picture of the same sub-layer refers to a picture of an even type.
    has_slice = true;
    role.entry = type >= 16 && type <= 21;
    role.closed = type == 20;  // IDR_N_LP
    role.begins_sequence = after_end || (type >= 16 && type <= 20);
    role.alone = type == 6 || type == 7;
    role.skipped_leading = type == 8 || type == 9;
    role.referred = type > 14 || type % 2 != 0 || layer != highest_layer_;
    role.b_picture = !role.referred;
  });
  role.has_picture = has_slice || has_unknown || !has_other;
}

}  // namespace bulkhead::worker::damage
