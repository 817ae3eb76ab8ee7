// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/demux/missing_end.h"

#include <algorithm>
#include <string_view>

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/parseutils.h>
}

#include "backends/worker/media/demux/container_names.h"
#include "backends/worker/media/demux/declared_length.h"
#include "backends/worker/media/demux/media_file.h"

namespace bulkhead::worker::demux {
namespace {

// The bytes before the contents of each chunk of AVI.
constexpr int64_t kChunkHeaderBytes = 8;

bool IsPcm(const AVStream& stream) {
  return std::string_view(avcodec_get_name(stream.codecpar->codec_id))
      .starts_with("pcm_");
}

// Completes `missing` from the table of packets of an MP4 file. Packets with a
// later decoding timestamp than the last packet that was read are missing.
void ReadTables(AVStream& stream, int64_t size, const LastPacket& last,
                MissingEnd& missing) {
  const int entries = avformat_index_get_entries_count(&stream);
  // The time from the entry before to the current one.
  int64_t step = std::max<int64_t>(last.duration, 0);
  for (int i = 0; i < entries; ++i) {
    const AVIndexEntry& entry = *avformat_index_get_entry(&stream, i);
    const bool is_hidden = (entry.flags & AVINDEX_DISCARD_FRAME) != 0;
    if (entry.size <= 0 || is_hidden) continue;
    if (missing.end != BULKHEAD_NO_TIMESTAMP &&
        __builtin_sub_overflow(entry.timestamp, missing.end, &step)) {
      step = 0;
    }
    missing.end = entry.timestamp;
    if (last.latest_dts != BULKHEAD_NO_TIMESTAMP &&
        entry.timestamp <= last.latest_dts) {
      continue;
    }
    ++missing.packets;
    int64_t end;
    if (!__builtin_add_overflow(entry.pos, entry.size, &end)) {
      missing.declared_size = std::max(missing.declared_size, end);
    }
  }
  if (missing.declared_size <= size) missing.declared_size = -1;
  // Takes the last packet to be as long as the one before it.
  if (missing.end != BULKHEAD_NO_TIMESTAMP &&
      __builtin_add_overflow(missing.end, step, &missing.end)) {
    missing.end = BULKHEAD_NO_TIMESTAMP;
  }
}

// Completes `missing` from the lengths and counts in the header of another
// container.
void ReadCounts(const AVFormatContext& format, const AVStream& stream,
                MediaBytes bytes, int64_t size, const LastPacket& last,
                MissingEnd& missing) {
  const std::string_view container = format.iformat->name;
  const AVRational unit = stream.time_base;
  if (container == "flac") {
    missing.end = stream.duration;
    return;
  }
  if (container == kMatroska && format.duration > 0) {
    int64_t microseconds = format.duration;
    // ffmpeg and mkvmerge write this tag for each stream.
    const AVDictionaryEntry* own =
        av_dict_get(stream.metadata, "DURATION", nullptr, 0);
    missing.is_rounded = true;
    missing.is_of_stream =
        own != nullptr ? av_parse_time(&microseconds, own->value, 1) >= 0
                       : format.nb_streams == 1;
    missing.end = av_rescale_q(microseconds, AV_TIME_BASE_Q, unit);
  }
  const DeclaredLength declared = ReadDeclaredLength(container, bytes, size);
  if (declared.bytes <= size) return;
  missing.declared_size = declared.bytes;
  if (container == "wav" && stream.codecpar->block_align > 0 && IsPcm(stream)) {
    missing.end = declared.sample_bytes / stream.codecpar->block_align;
  } else if (container == "wav" && stream.duration > 0) {
    // libavformat has the number of samples from the header, if it is there.
    missing.end = stream.duration;
    missing.is_rounded = true;
  } else if (container == "avi" && stream.nb_frames > 0) {
    // The header counts the chunks, or the samples of PCM. Timestamps of video
    // are numbers of chunks, from 0.
    missing.end = stream.nb_frames;
    int64_t chunks;
    if (stream.codecpar->codec_type == AVMEDIA_TYPE_VIDEO &&
        !__builtin_sub_overflow(missing.end - 1, last.latest_dts, &chunks)) {
      // Each chunk has a header, and the count may be nonsense.
      const int64_t most = (declared.bytes - size) / kChunkHeaderBytes;
      missing.packets =
          static_cast<uint64_t>(std::clamp<int64_t>(chunks, 0, most));
    }
  }
}

}  // namespace

MissingEnd FindMissingEnd(const MediaFile& file, AVStream& stream,
                          MediaBytes bytes, int64_t size,
                          const LastPacket& last) {
  const AVFormatContext& format = *file.format();
  MissingEnd missing;
  missing.error = file.stop_error();
  missing.byte = avio_tell(format.pb);
  missing.ends_in_packet = last.is_marked && missing.byte >= size;
  if (std::string_view(format.iformat->name) == kMp4) {
    ReadTables(stream, size, last, missing);
  } else {
    ReadCounts(format, stream, bytes, size, last, missing);
  }
  return missing;
}

}  // namespace bulkhead::worker::demux
