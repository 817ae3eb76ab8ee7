// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/picture_data.h"

#include <algorithm>
#include <array>
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
// The index of a VP9 superframe has up to 34 bytes at the end of a packet.
constexpr int64_t kSuperframeIndexBytes = 64;

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
    } else if (codec.codec_id == AV_CODEC_ID_VP8 ||
               codec.codec_id == AV_CODEC_ID_VP9) {
      const ByteRange data{place.begin + kHeaderBytes,
                           place.end - kSuperframeIndexBytes};
      if (data.begin < data.end) found.push_back(data);
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
  if (found == end) return std::nullopt;
  const int64_t begin = packet.pos + (found - block.begin());
  return PacketPlace{
      packet.stream_index, packet.pos, {begin, begin + packet.size}};
}

}  // namespace bulkhead::worker
