// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/picture_data.h"

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

namespace bulkhead::worker {
namespace {

// Each unit costs a read. Pictures of many slices are small anyway.
constexpr int kMostUnits = 64;
// The header of a slice with explicit weights for all of its references has
// some 500 bytes.
constexpr int64_t kHeaderBytes = 1024;

// Returns how many bytes the length in front of each unit has; 0 if units have
// no lengths (ISO/IEC 14496-15, avcC and hvcC).
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

// Adds the picture data of a packet of units with lengths. Returns how many
// units it has read.
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

// Returns whether the packet holds several frames of VP9, of which any may have
// the headers that matter. The last byte is then the marker of an index (VP9
// bitstream specification, annex B).
bool IsSuperframe(AVCodecID codec, ByteRange packet, MediaBytes bytes) {
  std::array<uint8_t, 1> last{};
  return codec == AV_CODEC_ID_VP9 &&
         (bytes.ReadAt(packet.end - 1, last) != 1 || (last[0] & 0xe0) == 0xc0);
}

// Returns whether `head` ends in the header of a block of Matroska whose
// contents are `payload` bytes, neither laced nor compressed (RFC 9559,
// sections 10.1 and 10.3): its element, its size, its track, its time, its
// flags.
bool EndsInHeaderOfBlock(std::span<const uint8_t> head, int64_t payload) {
  constexpr uint8_t kSimpleBlock = 0xa3;
  constexpr uint8_t kBlock = 0xa1;
  constexpr uint8_t kLacing = 0x06;
  constexpr size_t kTimeAndFlags = 3;
  constexpr size_t kLongest = 8;  // number
  if (head.empty() || (head.back() & kLacing) != 0) return false;
  // A number tells its length by the leading zeroes of its first byte.
  const auto is_number = [&](size_t at, size_t bytes) {
    return std::countl_zero(head[at]) + 1 == static_cast<int>(bytes);
  };
  for (size_t track = 1; track <= kLongest; ++track) {
    for (size_t number = 1; number <= kLongest; ++number) {
      const size_t bytes = 1 + number + track + kTimeAndFlags;
      if (bytes > head.size()) break;
      const size_t begin = head.size() - bytes;
      if ((head[begin] != kSimpleBlock && head[begin] != kBlock) ||
          !is_number(begin + 1, number) ||
          !is_number(begin + 1 + number, track)) {
        continue;
      }
      uint64_t told = head[begin + 1] & (0xffu >> number);
      for (size_t i = 1; i < number; ++i)
        told = told << 8 | head[begin + 1 + i];
      if (told == track + kTimeAndFlags + static_cast<uint64_t>(payload)) {
        return true;
      }
    }
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
      // The last byte says that there is no index.
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
  // Headers of a block: its element, its track, its time, its flags; in front,
  // those of a group and of its other elements.
  constexpr size_t kMostBlockHeader = 64;
  if (packet.pos < 0 || packet.size <= 0) return std::nullopt;
  const auto size = static_cast<size_t>(packet.size);
  std::vector<uint8_t> block(size + kMostBlockHeader);
  const ssize_t got = bytes.ReadAt(packet.pos, block);
  if (got < packet.size) return std::nullopt;
  const auto end = block.begin() + got;
  const auto found =
      std::search(block.begin(), end, packet.data, packet.data + packet.size);
  if (found == end ||
      !EndsInHeaderOfBlock({block.begin(), found}, packet.size)) {
    return std::nullopt;
  }
  const int64_t begin = packet.pos + (found - block.begin());
  return PacketPlace{
      packet.stream_index, packet.pos, {begin, begin + packet.size}};
}

}  // namespace bulkhead::worker
