// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/picture_data.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

extern "C" {
#include <libavcodec/codec_par.h>
#include <libavformat/avformat.h>
}

namespace bulkhead::worker {
namespace {

// libavformat decodes no more packets of a stream to learn its delay.
constexpr int kMostPackets = 20;
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

// Adds the picture data of one packet. Returns how many units it has read.
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

std::vector<ByteRange> PictureDataOf(AVFormatContext& format, MediaBytes bytes,
                                     int64_t size) {
  std::vector<ByteRange> found;
  if (std::string_view(format.iformat->name) != "mov,mp4,m4a,3gp,3g2,mj2") {
    return found;
  }
  int units_left = kMostUnits;
  for (unsigned i = 0; i < format.nb_streams; ++i) {
    AVStream* const stream = format.streams[i];
    if (stream->discard == AVDISCARD_ALL || LengthBytes(*stream->codecpar) == 0)
      continue;
    const int packets =
        std::min(avformat_index_get_entries_count(stream), kMostPackets);
    for (int k = 0; k < packets && units_left > 0; ++k) {
      const AVIndexEntry* entry = avformat_index_get_entry(stream, k);
      if (entry->pos < 0 || entry->size <= 0 || entry->pos > size - entry->size)
        continue;
      units_left -=
          AddUnits(*stream->codecpar, {entry->pos, entry->pos + entry->size},
                   units_left, bytes, found);
    }
  }
  return found;
}

}  // namespace bulkhead::worker
