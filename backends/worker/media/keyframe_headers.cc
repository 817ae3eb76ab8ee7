// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/keyframe_headers.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>

extern "C" {
#include <libavcodec/codec_id.h>
}

namespace bulkhead::worker {
namespace {

using Bytes = std::span<const uint8_t>;

// Reads a number of seven bits a byte, and moves `bytes` behind it (AV1
// specification, section 4.10.5).
std::optional<size_t> TakeLeb128(Bytes& bytes) {
  uint64_t value = 0;
  for (unsigned i = 0; i < 8 && i < bytes.size(); ++i) {
    value |= uint64_t{bytes[i] & 0x7fu} << (7 * i);
    if ((bytes[i] & 0x80) != 0) continue;
    bytes = bytes.subspan(i + 1);
    return value;
  }
  return std::nullopt;
}

// Looks for a sequence header of the main profile and, after it, the header of
// a keyframe that is shown (AV1 specification, sections 5.3 to 5.9).
bool HoldsAv1Keyframe(Bytes packet) {
  constexpr int kSequenceHeader = 1;
  constexpr int kFrameHeader = 3;
  constexpr int kFrame = 6;
  bool has_sequence = false;
  bool has_keyframe = false;
  while (!packet.empty()) {
    const uint8_t header = packet[0];
    const bool forbidden = (header & 0x81) != 0;
    const bool extended = (header & 0x04) != 0;
    const bool sized = (header & 0x02) != 0;
    if (forbidden || extended || !sized) return false;
    packet = packet.subspan(1);
    const auto bytes = TakeLeb128(packet);
    if (!bytes || *bytes > packet.size()) return false;
    const Bytes unit = packet.first(*bytes);
    packet = packet.subspan(*bytes);
    const int type = header >> 3 & 0xf;
    if (type == kSequenceHeader) {
      // Profile 0, and the header of a still picture is not the short one.
      has_sequence = unit.size() > 4 && (unit[0] & 0xe8) == 0;
    } else if (type == kFrame || type == kFrameHeader) {
      // Shows no existing frame, is a keyframe and is shown itself.
      if (unit.empty() || (unit[0] & 0xf0) != 0x10) return false;
      has_keyframe = has_sequence;
    }
  }
  return has_keyframe;
}

// Returns the bytes behind the first start code 00 00 01 `code` with a code
// from `first` to `last`; empty if there is none.
Bytes AfterStartCode(Bytes bytes, uint8_t first, uint8_t last) {
  for (; bytes.size() > 4; bytes = bytes.subspan(1)) {
    if (bytes[0] == 0 && bytes[1] == 0 && bytes[2] == 1 && bytes[3] >= first &&
        bytes[3] <= last) {
      return bytes.subspan(4);
    }
  }
  return {};
}

// Looks for a sequence header with a size, the header of an I-picture that is a
// whole frame, and a slice (ISO 13818-2, section 6.2).
bool HoldsMpeg2Keyframe(Bytes packet) {
  const Bytes sequence = AfterStartCode(packet, 0xb3, 0xb3);
  if (sequence.size() < 8) return false;
  const int width = sequence[0] << 4 | sequence[1] >> 4;
  const int height = (sequence[1] & 0xf) << 8 | sequence[2];
  const Bytes picture = AfterStartCode(sequence, 0, 0);
  if (width == 0 || height == 0 || picture.size() < 4) return false;
  const bool intra = (picture[1] >> 3 & 7) == 1;
  const Bytes extension = AfterStartCode(picture, 0xb5, 0xb5);
  const bool field = extension.size() > 2 && (extension[0] >> 4) == 8 &&
                     (extension[2] & 3) != 3;
  return intra && !field && !AfterStartCode(picture, 1, 0xaf).empty();
}

// Looks for the header of an I-VOP (ISO 14496-2, section 6.2.5). The packets of
// a file whose headers are damaged or absent fail in the decoder.
bool HoldsMpeg4Keyframe(Bytes packet) {
  const Bytes object = AfterStartCode(packet, 0xb6, 0xb6);
  // More than a VOP that is not coded has.
  return object.size() > 16 && (object[0] & 0xc0) == 0;
}

// Looks for the markers of one baseline picture from beginning to end (ITU-T
// T.81, annex B).
bool HoldsJpeg(Bytes packet) {
  constexpr auto kField = std::to_array<uint8_t>({'A', 'V', 'I', '1'});
  const auto marker = [&](size_t at) {
    return packet.size() >= at + 4 && packet[at] == 0xff ? packet[at + 1] : 0;
  };
  if (marker(0) != 0xd8) return false;
  bool has_size = false;
  for (size_t at = 2; marker(at) != 0;) {
    const size_t bytes = size_t{packet[at + 2]} << 8 | packet[at + 3];
    const size_t end = at + 2 + bytes;
    if (bytes < 2 || end > packet.size()) return false;
    const Bytes segment = packet.subspan(at + 4, bytes - 2);
    switch (marker(at)) {
      case 0xc0:
        has_size = segment.size() > 5 && (segment[1] | segment[2]) != 0 &&
                   (segment[3] | segment[4]) != 0;
        break;
      case 0xe0:
        if (std::search(segment.begin(), segment.end(), kField.begin(),
                        kField.end()) != segment.end()) {
          return false;
        }
        break;
      case 0xda: {
        const auto tail = packet.last(std::min<size_t>(packet.size(), 16));
        constexpr auto kEnd = std::to_array<uint8_t>({0xff, 0xd9});
        return has_size && std::search(tail.begin(), tail.end(), kEnd.begin(),
                                       kEnd.end()) != tail.end();
      }
      default:
        break;
    }
    at = end;
  }
  return false;
}

// A data packet of an intra frame (Theora specification, section 7.1).
bool HoldsTheoraKeyframe(Bytes packet) {
  return packet.size() > 16 && (packet[0] & 0xc0) == 0;
}

}  // namespace

bool HoldsKeyframe(int codec, const bulkhead_packet& packet) {
  const Bytes bytes(packet.data, packet.bytes);
  switch (codec) {
    case AV_CODEC_ID_AV1:
      return HoldsAv1Keyframe(bytes);
    case AV_CODEC_ID_MPEG1VIDEO:
    case AV_CODEC_ID_MPEG2VIDEO:
      return HoldsMpeg2Keyframe(bytes);
    case AV_CODEC_ID_MPEG4:
      return HoldsMpeg4Keyframe(bytes);
    case AV_CODEC_ID_MJPEG:
      return HoldsJpeg(bytes);
    case AV_CODEC_ID_THEORA:
      return HoldsTheoraKeyframe(bytes);
    default:
      return false;
  }
}

}  // namespace bulkhead::worker
