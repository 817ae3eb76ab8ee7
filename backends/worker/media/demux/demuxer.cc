// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/demux/demuxer.h"

#include <algorithm>
#include <utility>

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/parseutils.h>
#include <libavutil/pixdesc.h>
}

#include "backends/libav_format/stream_to_abi.h"
#include "backends/worker/media/damage/packet_inspector.h"
#include "backends/worker/media/demux/container_names.h"
#include "backends/worker/media/demux/declared_length.h"
#include "backends/worker/media/demux/display.h"
#include "backends/worker/media/demux/media_file.h"
#include "ipc/limit_name.h"
#include "ipc/try.h"

namespace bulkhead::worker {
namespace {

// Of a chunk of AVI.
constexpr int64_t kChunkHeaderBytes = 8;

bulkhead_rational FromAv(AVRational value) { return {value.num, value.den}; }

bool IsCover(const AVStream& stream) {
  return (stream.disposition & AV_DISPOSITION_ATTACHED_PIC) != 0;
}

const char* NameOf(StreamKind kind) {
  return kind == StreamKind::kAudio ? "audio" : "video";
}

// Returns what a file has that has no stream of `kind`, and what to do about
// it.
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

ipc::Expected<std::unique_ptr<Demuxer>> Demuxer::Open(
    MediaBytes bytes, int64_t size, std::string_view name_hint,
    int32_t stream_index, StreamKind kind, DemuxerLimits limits) {
  std::unique_ptr<Demuxer> demuxer(
      new Demuxer(bytes, size, name_hint, stream_index, kind, limits));
  if (size <= 0) {
    return ipc::Fail(ipc::Code::kBadInput, demuxer->name_ + " is empty");
  }
  demuxer->av_packet_ = av_packet_alloc();
  if (demuxer->av_packet_ == nullptr) {
    return ipc::Fail(ipc::Code::kInternal, "no memory for a packet");
  }
  IPC_TRY(demuxer->OpenInput());
  demuxer->DescribeStream();
  return demuxer;
}

Demuxer::Demuxer(MediaBytes bytes, int64_t size, std::string_view name_hint,
                 int32_t stream_index, StreamKind kind, DemuxerLimits limits)
    : bytes_(bytes),
      size_(size),
      name_(name_hint.substr(name_hint.rfind('/') + 1)),
      stream_index_(stream_index),
      kind_(kind),
      limits_(limits) {}

Demuxer::~Demuxer() {
  CloseInput();
  av_packet_free(&av_packet_);
}

void Demuxer::CloseInput() {
  if (av_packet_ != nullptr) av_packet_unref(av_packet_);
  stream_ = nullptr;
  format_ = nullptr;
  file_.reset();
  packet_is_pending_ = false;
  at_beginning_ = true;
  last_is_marked_ = false;
  last_dts_ = BULKHEAD_NO_TIMESTAMP;
  kept_ = {};
  packets_before_lending_.reset();
}

ipc::Expected<void> Demuxer::OpenInput() {
  IPC_ASSIGN_OR_RETURN(
      file_,
      MediaFile::Open(bytes_, size_, name_, limits_.streams, limits_.allowed));
  format_ = file_->format();

  IPC_ASSIGN_OR_RETURN(stream_index_, ChooseStream());
  IPC_TRY(file_->CheckCodec(*format_->streams[stream_index_]));
  stream_ = format_->streams[stream_index_];
  for (unsigned i = 0; i < format_->nb_streams; ++i) {
    format_->streams[i]->discard = AVDISCARD_ALL;
  }
  stream_->discard = AVDISCARD_NONE;
  parameters_ = libav_format::ParametersOf(*stream_, &stream_side_data_);
  return {};
}

bool Demuxer::IsOfKind(const AVStream& stream) const {
  return stream.codecpar->codec_type == (kind_ == StreamKind::kAudio
                                             ? AVMEDIA_TYPE_AUDIO
                                             : AVMEDIA_TYPE_VIDEO);
}

ipc::Expected<int> Demuxer::ChooseStream() const {
  const int count = static_cast<int>(format_->nb_streams);
  const std::string kind = NameOf(kind_);
  std::string candidates;
  int first = -1;
  int first_moving = -1;
  for (int i = 0; i < count; ++i) {
    const AVStream& stream = *format_->streams[i];
    if (!IsOfKind(stream)) continue;
    if (first < 0) first = i;
    if (first_moving < 0 && !IsCover(stream)) first_moving = i;
    // A container may declare thousands of streams; the message names a few.
    if (candidates.size() < 60)
      candidates += (candidates.empty() ? "" : ", ") + std::to_string(i);
  }
  if (first < 0) {
    // A damaged header may leave no stream of which anything is known.
    const bool has_media = std::any_of(
        format_->streams, format_->streams + count, [](const AVStream* stream) {
          return stream->codecpar->codec_id != AV_CODEC_ID_NONE;
        });
    const ipc::Code none =
        has_media ? ipc::Code::kNotFound : ipc::Code::kBadInput;
    return ipc::Fail(file_->refers_to_others() ? ipc::Code::kUnsupported : none,
                     name_ + " has no " + kind + " stream; " +
                         DescribeOthers(*format_, kind_));
  }
  if (stream_index_ == kBestStream) {
    const int best = av_find_best_stream(
        format_,
        kind_ == StreamKind::kAudio ? AVMEDIA_TYPE_AUDIO : AVMEDIA_TYPE_VIDEO,
        -1, -1, /*decoder_ret=*/nullptr, 0);
    // It passes over audio whose header has no rate or no channels.
    if (best >= 0) return best;
  }
  if (stream_index_ == kFirstStream || stream_index_ == kBestStream) {
    return first_moving >= 0 ? first_moving : first;
  }
  if (stream_index_ >= 0 && stream_index_ < count &&
      IsOfKind(*format_->streams[stream_index_])) {
    return stream_index_;
  }
  return ipc::Fail(ipc::Code::kInvalidArgument,
                   "stream " + std::to_string(stream_index_) + " of " + name_ +
                       " is no " + kind + " stream; " + kind +
                       " streams: " + candidates);
}

void Demuxer::DescribeStream() {
  const AVCodecParameters& codec = *stream_->codecpar;
  facts_.stream_index = stream_index_;
  facts_.stream_id = stream_->id;
  facts_.stream_count = format_->nb_streams;
  facts_.codec = avcodec_get_name(codec.codec_id);
  const char* pixel_format =
      kind_ == StreamKind::kVideo
          ? av_get_pix_fmt_name(static_cast<AVPixelFormat>(codec.format))
          : nullptr;
  if (pixel_format != nullptr) facts_.pixel_format = pixel_format;
  facts_.container = format_->iformat->name;
  const Display display = DisplayOf(*stream_);
  facts_.orientation = display.orientation;
  facts_.width = display.width;
  facts_.height = display.height;
  facts_.sample_aspect_ratio = display.sample_aspect_ratio;
  facts_.time_base = FromAv(stream_->time_base);
  facts_.average_frame_rate = FromAv(stream_->avg_frame_rate);
  facts_.base_frame_rate = FromAv(stream_->r_frame_rate);
  facts_.frame_count =
      static_cast<uint64_t>(std::max<int64_t>(stream_->nb_frames, 0));
  facts_.duration = stream_->duration;
  facts_.container_microseconds = format_->duration;
  facts_.is_duration_estimated =
      format_->duration_estimation_method == AVFMT_DURATION_FROM_BITRATE;
  facts_.start = stream_->start_time;
  facts_.bit_rate = codec.bit_rate > 0 ? codec.bit_rate : format_->bit_rate;
  facts_.color_primaries = codec.color_primaries;
  facts_.color_transfer = codec.color_trc;
  facts_.color_space = codec.color_space;
  facts_.color_range = codec.color_range;
  facts_.chroma_location = codec.chroma_location;
  facts_.video_delay = codec.video_delay;
}

std::unique_ptr<PacketInspector> Demuxer::MakeInspector() const {
  return PacketInspector::Create(*stream_->codecpar);
}

AccessPoints Demuxer::MakeAccessPoints() const {
  return AccessPoints(*stream_->codecpar);
}

const int32_t* Demuxer::display_matrix_untrusted() const {
  return stream_ == nullptr ? nullptr : DisplayMatrixOf(*stream_);
}

bool Demuxer::NextAvPacket() {
  at_beginning_ = false;
  packet_too_large_ = false;
  if (borrows_ && kept_.TakeNext(av_packet_)) return true;
  while (file_->ReadPacket(av_packet_)) {
    if (av_packet_->stream_index != stream_index_) continue;
    packet_too_large_ = static_cast<uint64_t>(std::max(av_packet_->size, 0)) >
                        limits_.packet_bytes;
    if (packet_too_large_) break;
    // Skips the empty packets that some demuxers yield before the end. A
    // decoder would take an empty packet for the end of the stream.
    if (av_packet_->size > 0) {
      if (!borrows_) kept_.Keep(*av_packet_);
      return true;
    }
  }
  if (packet_too_large_) kept_.GiveUp();
  return false;
}

ipc::Expected<bool> Demuxer::ReadPacket() {
  if (packets_before_lending_) IPC_TRY(Return());
  if (stream_ == nullptr) {
    return ipc::Fail(ipc::Code::kBadInput, name_ + " could not be reopened");
  }
  if (packet_is_pending_) {
    packet_is_pending_ = false;
    at_beginning_ = false;
  } else if (!NextAvPacket()) {
    if (packet_too_large_) {
      return ipc::Fail(
          ipc::Code::kResourceExhausted,
          "a packet of " + name_ + " has " + std::to_string(av_packet_->size) +
              " bytes, more than " + std::to_string(limits_.packet_bytes) +
              "; raise " + ipc::LimitName("packet_bytes"));
    }
    IPC_TRY(file_->CheckStreams());
    if (file_->read_error() == 0) return false;
    return ipc::FailErrno(ipc::Code::kBadInput,
                          name_ + " cannot be read further",
                          file_->read_error());
  }
  packet_ = libav_format::PacketOf(*av_packet_, &packet_side_data_);
  last_is_marked_ = (av_packet_->flags & AV_PKT_FLAG_CORRUPT) != 0;
  last_dts_ = std::max(last_dts_, av_packet_->dts);
  return true;
}

const bulkhead_packet* Demuxer::PeekFirst() {
  if (!packet_is_pending_ && !NextAvPacket()) {
    (void)SeekToBeginning();
    return nullptr;
  }
  packet_is_pending_ = true;
  at_beginning_ = true;
  packet_ = libav_format::PacketOf(*av_packet_, &packet_side_data_);
  return &packet_;
}

MissingEnd Demuxer::missing_end() const {
  MissingEnd missing;
  if (stream_ == nullptr) return missing;
  missing.error = file_->stop_error();
  missing.byte = avio_tell(format_->pb);
  missing.ends_in_packet = last_is_marked_ && missing.byte >= size_;
  if (facts_.container == kMp4) {
    ReadTables(missing);
  } else {
    ReadCounts(missing);
  }
  return missing;
}

void Demuxer::ReadTables(MissingEnd& missing) const {
  const int entries = avformat_index_get_entries_count(stream_);
  int64_t step = std::max<int64_t>(packet_.duration, 0);
  for (int i = 0; i < entries; ++i) {
    const AVIndexEntry& entry = *avformat_index_get_entry(stream_, i);
    const bool is_hidden = (entry.flags & AVINDEX_DISCARD_FRAME) != 0;
    if (entry.size <= 0 || is_hidden) continue;
    if (missing.end != BULKHEAD_NO_TIMESTAMP &&
        __builtin_sub_overflow(entry.timestamp, missing.end, &step)) {
      step = 0;
    }
    missing.end = entry.timestamp;
    if (last_dts_ != BULKHEAD_NO_TIMESTAMP && entry.timestamp <= last_dts_) {
      continue;
    }
    ++missing.packets;
    int64_t end;
    if (!__builtin_add_overflow(entry.pos, entry.size, &end)) {
      missing.declared_size = std::max(missing.declared_size, end);
    }
  }
  if (missing.declared_size <= size_) missing.declared_size = -1;
  // The last packet lasts as long as the one before.
  if (missing.end != BULKHEAD_NO_TIMESTAMP &&
      __builtin_add_overflow(missing.end, step, &missing.end)) {
    missing.end = BULKHEAD_NO_TIMESTAMP;
  }
}

void Demuxer::ReadCounts(MissingEnd& missing) const {
  const AVRational unit = stream_->time_base;
  if (facts_.container == "flac") {
    missing.end = stream_->duration;
    return;
  }
  if (facts_.container == kMatroska && format_->duration > 0) {
    int64_t microseconds = format_->duration;
    // The tag of ffmpeg and mkvmerge.
    const AVDictionaryEntry* own =
        av_dict_get(stream_->metadata, "DURATION", nullptr, 0);
    missing.is_rounded = true;
    missing.is_of_stream =
        own != nullptr ? av_parse_time(&microseconds, own->value, 1) >= 0
                       : format_->nb_streams == 1;
    missing.end = av_rescale_q(microseconds, AV_TIME_BASE_Q, unit);
  }
  const DeclaredLength declared =
      ReadDeclaredLength(facts_.container, bytes_, size_);
  if (declared.bytes <= size_) return;
  missing.declared_size = declared.bytes;
  if (facts_.container == "wav" && stream_->codecpar->block_align > 0 &&
      facts_.codec.starts_with("pcm_")) {
    missing.end = declared.sample_bytes / stream_->codecpar->block_align;
  } else if (facts_.container == "wav" && stream_->duration > 0) {
    // The number of samples, if the header has it.
    missing.end = stream_->duration;
    missing.is_rounded = true;
  } else if (facts_.container == "avi" && stream_->nb_frames > 0) {
    // libavformat counts the chunks, or the samples of PCM.
    missing.end = stream_->nb_frames;
    int64_t chunks;
    if (kind_ == StreamKind::kVideo &&
        !__builtin_sub_overflow(missing.end - 1, last_dts_, &chunks)) {
      // Each chunk has a header, and the count may be nonsense.
      const int64_t most = (declared.bytes - size_) / kChunkHeaderBytes;
      missing.packets =
          static_cast<uint64_t>(std::clamp<int64_t>(chunks, 0, most));
    }
  }
}

bool Demuxer::shrank() const { return file_ && file_->shrank(); }

bool Demuxer::disposable() const {
  return (av_packet_->flags & AV_PKT_FLAG_DISPOSABLE) != 0;
}

}  // namespace bulkhead::worker
