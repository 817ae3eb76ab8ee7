// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/demux/codec_access.h"

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavutil/intreadwrite.h>
}

#include "backends/worker/media/damage/av1_units.h"
#include "backends/worker/media/damage/header_bits.h"

namespace bulkhead::worker::demux {
namespace {

using damage::HeaderBits;
using Bytes = std::span<const uint8_t>;

HeaderBits BitsFrom(Bytes packet, size_t byte) {
  return byte < packet.size()
             ? HeaderBits(packet.data() + byte, packet.size() - byte)
             : HeaderBits(nullptr, 0);
}

// Returns whether the first frame header of the packet is the header of a key
// frame that is shown (AV1 bitstream specification, section 5.9.2).
bool IsAv1Key(Bytes packet) {
  bool reduced = false;
  bool met = false;
  bool key = false;
  damage::ForEachAv1Unit(packet, [&](uint32_t type, Bytes payload) {
    HeaderBits bits(payload.data(), payload.size());
    if (type == damage::kAv1SequenceHeader) {
      bits.Bits(4);  // profile, still picture
      reduced = bits.Bit() != 0;
    } else if ((type == damage::kAv1Frame || type == damage::kAv1FrameHeader) &&
               !met) {
      met = true;
      // The reduced header of a still picture has none of these flags.
      const bool shows_existing = bits.Bit() != 0;
      const bool is_key = bits.Bits(2) == 0;
      key = reduced || (!shows_existing && is_key && bits.Bit() != 0);
    }
  });
  return key;
}

// Reads the picture header of Sorenson's H.263, the codec of FLV: after the
// start code stand a version, a number and a size.
bool IsFlv1Intra(Bytes packet) {
  HeaderBits bits = BitsFrom(packet, 0);
  if (bits.Bits(17) != 1) return false;
  bits.Bits(5 + 8);
  const uint32_t size = bits.Bits(3);
  if (size < 2) bits.Bits(size == 0 ? 16 : 32);
  return bits.Bits(2) == 0;
}

// Skips the table of slices with which a packet of RealVideo begins.
bool IsRv20Intra(Bytes packet) {
  return BitsFrom(packet, 1 + size_t{8} * (packet[0] + 1)).Bits(2) < 2;
}

// Reads the picture header of SVQ1: a start code, a number and the type.
bool IsSvq1Intra(Bytes packet) {
  HeaderBits bits = BitsFrom(packet, 0);
  const uint32_t code = bits.Bits(22);
  if ((code & ~0x70u) != 0 || (code & 0x60) == 0) return false;
  bits.Bits(8);
  return packet.size() >= 4 && bits.Bits(2) == 0;
}

// Returns the keyframe flag of FFV1 and Snow, which is the first bit of the
// range coder. Its two values are equally likely, so a comparison with the
// middle of the range decodes the flag (RFC 9043, section 3.8.1).
bool IsKeyOfRangeCoder(Bytes packet) {
  constexpr unsigned kEven = 0x7f80;
  return packet.size() >= 2 && AV_RB16(packet.data()) >= kEven;
}

}  // namespace

CodecAccess AccessOf(int codec) {
  switch (codec) {
    case AV_CODEC_ID_H264:
    case AV_CODEC_ID_HEVC:
    case AV_CODEC_ID_MPEG1VIDEO:
    case AV_CODEC_ID_MPEG2VIDEO:
    case AV_CODEC_ID_MPEG4:
    case AV_CODEC_ID_VP8:
    case AV_CODEC_ID_VP9:
      return CodecAccess::kRoles;
    case AV_CODEC_ID_AV1:
    case AV_CODEC_ID_FFV1:
    case AV_CODEC_ID_FLV1:
    case AV_CODEC_ID_MSMPEG4V2:
    case AV_CODEC_ID_MSMPEG4V3:
    case AV_CODEC_ID_RV20:
    case AV_CODEC_ID_SNOW:
    case AV_CODEC_ID_SVQ1:
    case AV_CODEC_ID_THEORA:
    case AV_CODEC_ID_VP3:
    case AV_CODEC_ID_WMV1:
    case AV_CODEC_ID_WMV2:
    case AV_CODEC_ID_ZMBV:
      return CodecAccess::kBits;
    // With overlapped motion compensation, libavcodec uses the motion vectors
    // of the previous picture for an intra picture.
    case AV_CODEC_ID_H263:
    case AV_CODEC_ID_H263P:
    case AV_CODEC_ID_RV10:
      return CodecAccess::kFirst;
    // These are intra coded, but packets repeat or use parts of earlier
    // packets: coefficients of the picture before (CineForm), a whole picture
    // (FIC, Lagarith), a tile of a larger picture (SMV), or tables at places
    // that CarriedState does not read (MJPEG-B).
    case AV_CODEC_ID_CFHD:
    case AV_CODEC_ID_FIC:
    case AV_CODEC_ID_LAGARITH:
    case AV_CODEC_ID_MJPEGB:
    case AV_CODEC_ID_SMVJPEG:
      return CodecAccess::kFirst;
    default:
      break;
  }
  const AVCodecDescriptor* descriptor =
      avcodec_descriptor_get(static_cast<AVCodecID>(codec));
  const bool intra = descriptor != nullptr &&
                     (descriptor->props & AV_CODEC_PROP_INTRA_ONLY) != 0;
  return intra ? CodecAccess::kEach : CodecAccess::kFirst;
}

bool FlushSuffices(int codec) {
  const CodecAccess access = AccessOf(codec);
  return access == CodecAccess::kEach || access == CodecAccess::kRoles ||
         codec == AV_CODEC_ID_AV1;
}

bool IsIntraByItsBits(int codec, Bytes packet) {
  if (packet.empty()) return false;
  switch (codec) {
    case AV_CODEC_ID_AV1:
      return IsAv1Key(packet);
    case AV_CODEC_ID_FFV1:
    case AV_CODEC_ID_SNOW:
      return IsKeyOfRangeCoder(packet);
    case AV_CODEC_ID_FLV1:
      return IsFlv1Intra(packet);
    case AV_CODEC_ID_MSMPEG4V2:
    case AV_CODEC_ID_MSMPEG4V3:
    case AV_CODEC_ID_WMV1:
      return (packet[0] & 0xc0) == 0;  // the type of the picture
    case AV_CODEC_ID_WMV2:
    case AV_CODEC_ID_VP3:
      return (packet[0] & 0x80) == 0;
    case AV_CODEC_ID_RV20:
      return IsRv20Intra(packet);
    case AV_CODEC_ID_SVQ1:
      return IsSvq1Intra(packet);
    case AV_CODEC_ID_THEORA:
      return (packet[0] & 0xc0) == 0;  // no header, but an intra frame
    case AV_CODEC_ID_ZMBV:
      return (packet[0] & 1) != 0;  // the keyframe flag
    default:
      return false;
  }
}

}  // namespace bulkhead::worker::demux
