// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/demux/picture_data.h"

#include <algorithm>
#include <array>
#include <bit>
#include <climits>
#include <span>

extern "C" {
#include <libavcodec/codec_par.h>
#include <libavcodec/packet.h>
#include <libavformat/avformat.h>
}

namespace bulkhead::worker::demux {
namespace {

// The most units that are read, since each costs a read. A picture with many
// slices gains little from hiding.
constexpr int kMostUnits = 64;
// Enough bytes for any header of a slice. With explicit weights for all of its
// references it has some 500.
constexpr int64_t kHeaderBytes = 1024;

// Returns the size in bytes of the length prefix of each NAL unit; 0 if units
// have no prefix (ISO/IEC 14496-15, avcC and hvcC).
int LengthBytes(const AVCodecParameters& codec) {
  const bool is_h264 = codec.codec_id == AV_CODEC_ID_H264;
  if (!is_h264 && codec.codec_id != AV_CODEC_ID_HEVC) return 0;
  const int at = is_h264 ? 4 : 21;
  if (codec.extradata_size <= at || codec.extradata[0] != 1) return 0;
  return (codec.extradata[at] & 3) + 1;
}

bool IsSlice(AVCodecID codec, uint8_t first_byte) {
  constexpr int kFirstH264 = 1;  // not partitioned, not IDR
  constexpr int kIdrH264 = 5;
  constexpr int kFirstParameterSetHevc = 32;
  if (codec != AV_CODEC_ID_H264) {
    return (first_byte >> 1 & 0x3f) < kFirstParameterSetHevc;
  }
  const int type = first_byte & 0x1f;
  return type == kFirstH264 || type == kIdrH264;
}

// Adds the picture data of a packet whose NAL units have length prefixes to
// `found`. Returns how many units were read.
int AddUnits(const AVCodecParameters& codec, ByteRange packet, int most_units,
             MediaBytes bytes, std::vector<ByteRange>& found) {
  const int length_bytes = LengthBytes(codec);
  int units = 0;
  int64_t at = packet.begin;
  for (; units < most_units && at + length_bytes < packet.end; ++units) {
    std::array<uint8_t, 5> head{};
    const auto wanted = static_cast<size_t>(length_bytes) + 1;
    const ssize_t got = bytes.ReadAt(at, std::span(head).first(wanted));
    if (got != static_cast<ssize_t>(wanted)) break;
    int64_t length = 0;
    for (int i = 0; i < length_bytes; ++i) length = length << 8 | head[i];
    at += length_bytes;
    if (length > packet.end - at) break;
    if (length > kHeaderBytes && IsSlice(codec.codec_id, head[length_bytes])) {
      found.push_back({at + kHeaderBytes, at + length});
    }
    at += length;
  }
  return units;
}

// Returns whether the packet holds several frames of VP9, whose last byte is
// the marker of an index (VP9 bitstream specification, annex B). Such packets
// are not hidden, since any of the frames may have the headers that matter.
bool IsSuperframe(AVCodecID codec, ByteRange packet, MediaBytes bytes) {
  std::array<uint8_t, 1> last{};
  return codec == AV_CODEC_ID_VP9 &&
         (bytes.ReadAt(packet.end - 1, last) != 1 || (last[0] & 0xe0) == 0xc0);
}

// The bytes of the longest number of EBML. The leading zeroes of the first byte
// state the length of a number (RFC 8794, section 4).
constexpr int kLongestNumber = 8;

int LengthOfNumber(uint8_t first_byte) {
  return std::countl_zero(first_byte) + 1;
}

// Returns whether `head` ends with the element id and the size of a block of
// Matroska, and that size is `bytes`.
bool EndsInSizeOfBlock(std::span<const uint8_t> head, uint64_t bytes) {
  constexpr uint8_t kSimpleBlock = 0xa3;
  constexpr uint8_t kBlock = 0xa1;
  for (size_t length = 1; length < head.size(); ++length) {
    const auto size = head.last(length);
    const uint8_t element = head[head.size() - length - 1];
    if ((element != kSimpleBlock && element != kBlock) ||
        LengthOfNumber(size[0]) != static_cast<int>(length)) {
      continue;
    }
    uint64_t told = size[0] & (0xffu >> length);
    for (const uint8_t byte : size.subspan(1)) told = told << 8 | byte;
    if (told == bytes) return true;
  }
  return false;
}

}  // namespace

std::vector<ByteRange> PictureDataOf(const AVFormatContext& format,
                                     const std::vector<PacketPlace>& packets,
                                     MediaBytes bytes, int64_t size) {
  std::vector<ByteRange> found;
  int units_left = kMostUnits;
  for (const auto& [stream, position, place] : packets) {
    if (stream < 0 || static_cast<unsigned>(stream) >= format.nb_streams ||
        place.begin < 0 || place.end > size || units_left <= 0) {
      continue;
    }
    const AVCodecParameters& codec = *format.streams[stream]->codecpar;
    if (LengthBytes(codec) > 0) {
      units_left -= AddUnits(codec, place, units_left, bytes, found);
    } else if ((codec.codec_id == AV_CODEC_ID_VP8 ||
                codec.codec_id == AV_CODEC_ID_VP9) &&
               place.end - place.begin > kHeaderBytes + 1 &&
               !IsSuperframe(codec.codec_id, place, bytes)) {
      // The last byte stays visible, since it says that there is no index.
      found.push_back({place.begin + kHeaderBytes, place.end - 1});
    }
  }
  return found;
}

std::vector<PacketPlace> PlacesInTables(AVFormatContext& format) {
  std::vector<PacketPlace> places;
  for (unsigned i = 0; i < format.nb_streams; ++i) {
    AVStream* const stream = format.streams[i];
    if (stream->discard == AVDISCARD_ALL ||
        stream->codecpar->codec_type != AVMEDIA_TYPE_VIDEO) {
      continue;
    }
    const int packets =
        std::min(avformat_index_get_entries_count(stream), kMostFirstPackets);
    for (int k = 0; k < packets && places.size() < kMostUnits; ++k) {
      const AVIndexEntry* const entry = avformat_index_get_entry(stream, k);
      if (entry->pos < 0 || entry->pos > INT64_MAX - entry->size) continue;
      places.push_back({static_cast<int32_t>(i),
                        entry->pos,
                        {entry->pos, entry->pos + entry->size}});
    }
  }
  return places;
}

std::optional<PacketPlace> PlaceInBlock(const AVPacket& packet,
                                        MediaBytes bytes) {
  constexpr uint8_t kLacing = 0x06;
  constexpr int kTimeBytes = 2;
  // The most bytes before a block's contents: its element id and its size.
  constexpr int64_t kSizeOfBlock = 1 + kLongestNumber;
  if (packet.pos < kSizeOfBlock || packet.size <= 0) return std::nullopt;
  // packet.pos is the place of the block's contents: the number of the track,
  // the time, the flags, and the packet (RFC 9559, section 10.1).
  std::vector<uint8_t> block(kSizeOfBlock + kLongestNumber + kTimeBytes + 1 +
                             static_cast<size_t>(packet.size));
  const ssize_t got = bytes.ReadAt(packet.pos - kSizeOfBlock, block);
  if (got <= kSizeOfBlock) return std::nullopt;
  const auto read = std::span(block).first(static_cast<size_t>(got));
  const auto contents = read.subspan(kSizeOfBlock);
  const int flags = LengthOfNumber(contents[0]) + kTimeBytes;
  const auto size = static_cast<size_t>(packet.size);
  if (flags >= static_cast<int>(contents.size()) ||
      (contents[flags] & kLacing) != 0) {
    return std::nullopt;
  }
  const auto payload = contents.subspan(static_cast<size_t>(flags) + 1);
  if (payload.size() < size ||
      !std::equal(packet.data, packet.data + size, payload.begin()) ||
      !EndsInSizeOfBlock(read.first(kSizeOfBlock),
                         static_cast<uint64_t>(flags) + 1 + size)) {
    return std::nullopt;
  }
  const int64_t begin = packet.pos + flags + 1;
  return PacketPlace{
      packet.stream_index, packet.pos, {begin, begin + packet.size}};
}

}  // namespace bulkhead::worker::demux
