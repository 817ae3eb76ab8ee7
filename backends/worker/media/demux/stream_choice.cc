// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/demux/stream_choice.h"

#include <algorithm>
#include <string>

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
}

#include "backends/worker/media/demux/media_file.h"

namespace bulkhead::worker::demux {
namespace {

bool IsCover(const AVStream& stream) {
  return (stream.disposition & AV_DISPOSITION_ATTACHED_PIC) != 0;
}

const char* NameOf(StreamKind kind) {
  return kind == StreamKind::kAudio ? "audio" : "video";
}

AVMediaType TypeOf(StreamKind kind) {
  return kind == StreamKind::kAudio ? AVMEDIA_TYPE_AUDIO : AVMEDIA_TYPE_VIDEO;
}

// Returns the text about a file without a stream of `kind`: which streams the
// file has, and what the user can do.
std::string DescribeOthers(const AVFormatContext& format, StreamKind kind) {
  constexpr unsigned kMostNamed = 4;
  const AVMediaType other =
      kind == StreamKind::kAudio ? AVMEDIA_TYPE_VIDEO : AVMEDIA_TYPE_AUDIO;
  std::string streams;
  bool has_other = false;
  for (unsigned i = 0; i < format.nb_streams; ++i) {
    const AVCodecParameters& codec = *format.streams[i]->codecpar;
    has_other |= codec.codec_type == other;
    if (i >= kMostNamed) continue;
    const char* type = av_get_media_type_string(codec.codec_type);
    streams += std::string(i == 0 ? "" : ", ") +
               (type == nullptr ? "unknown" : type) + " " +
               avcodec_get_name(codec.codec_id);
  }
  if (streams.empty()) return "it has no streams";
  if (format.nb_streams > kMostNamed) streams += ", ...";
  std::string text = "it has: " + streams;
  if (!has_other) return text;
  return text + (kind == StreamKind::kAudio
                     ? "; decode that instead (leave out --audio)"
                     : "; decode that instead (--audio)");
}

}  // namespace

ipc::Expected<int> ChooseStream(const MediaFile& file, StreamKind kind,
                                int32_t wanted) {
  const AVFormatContext& format = *file.format();
  const int count = static_cast<int>(format.nb_streams);
  const std::string name = NameOf(kind);
  std::string candidates;
  int first = -1;         // the first stream of the kind
  int first_moving = -1;  // the first one that is no cover picture
  for (int i = 0; i < count; ++i) {
    const AVStream& stream = *format.streams[i];
    if (stream.codecpar->codec_type != TypeOf(kind)) continue;
    if (first < 0) first = i;
    if (first_moving < 0 && !IsCover(stream)) first_moving = i;
    // A container may declare thousands of streams; the message names a few.
    if (candidates.size() < 60)
      candidates += (candidates.empty() ? "" : ", ") + std::to_string(i);
  }
  if (first < 0) {
    // If no codec is known at all, the header is damaged.
    const bool has_media = std::any_of(
        format.streams, format.streams + count, [](const AVStream* stream) {
          return stream->codecpar->codec_id != AV_CODEC_ID_NONE;
        });
    const ipc::Code none =
        has_media ? ipc::Code::kNotFound : ipc::Code::kBadInput;
    return ipc::Fail(file.refers_to_others() ? ipc::Code::kUnsupported : none,
                     file.name() + " has no " + name + " stream; " +
                         DescribeOthers(format, kind));
  }
  if (wanted == kBestStream) {
    const int best = av_find_best_stream(file.format(), TypeOf(kind), -1, -1,
                                         /*decoder_ret=*/nullptr, 0);
    // libavformat passes over audio whose header has no rate or no channels.
    if (best >= 0) return best;
  }
  if (wanted == kFirstStream || wanted == kBestStream) {
    return first_moving >= 0 ? first_moving : first;
  }
  if (wanted >= 0 && wanted < count &&
      format.streams[wanted]->codecpar->codec_type == TypeOf(kind)) {
    return wanted;
  }
  return ipc::Fail(ipc::Code::kInvalidArgument,
                   "stream " + std::to_string(wanted) + " of " + file.name() +
                       " is no " + name + " stream; " + name +
                       " streams: " + candidates);
}

}  // namespace bulkhead::worker::demux
