// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/demuxer.h"

#include <errno.h>

#include <algorithm>
#include <utility>

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/pixdesc.h>
}

#include "backends/libav_format/stream_to_abi.h"
#include "backends/worker/media/container_walk.h"
#include "backends/worker/media/declared_size.h"
#include "backends/worker/media/display.h"
#include "backends/worker/media/end_padding.h"
#include "backends/worker/media/file_window.h"
#include "backends/worker/media/media_file.h"
#include "backends/worker/media/packet_inspector.h"
#include "ipc/limit_name.h"
#include "ipc/try.h"

namespace bulkhead::worker {
namespace {

// A seek that lands after its target is repeated at most this often, each time
// twice as far before the target. Then decoding starts at the beginning.
constexpr int kMostSeeks = 6;

bulkhead_rational FromAv(AVRational value) { return {value.num, value.den}; }

bool IsCover(const AVStream& stream) {
  return (stream.disposition & AV_DISPOSITION_ATTACHED_PIC) != 0;
}

const char* NameOf(StreamKind kind) {
  return kind == StreamKind::kAudio ? "audio" : "video";
}

// Returns an upper bound of the time at which the picture of `packet` is shown.
// Some containers declare only the decoding time; a decoder that reorders
// pictures shows them up to `reordered` + 1 durations later.
int64_t LatestTimestamp(const AVPacket& packet, int reordered) {
  if (packet.pts != AV_NOPTS_VALUE || packet.dts == AV_NOPTS_VALUE) {
    return packet.pts;
  }
  int64_t latest;
  if (__builtin_mul_overflow(packet.duration, int64_t{reordered} + 1,
                             &latest) ||
      __builtin_add_overflow(latest, packet.dts, &latest)) {
    return INT64_MAX;
  }
  return latest;
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
  const std::string_view container = format_->iformat->name;
  const bool is_chunked = container == "flv" || container == "avi";
  walk_ = ContainerWalk::Of(
      container, stream_->id, bytes_, size_,
      is_chunked ? DeclaredSize(container, bytes_, size_) : 0);
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
    // It passes over audio whose header tells no rate or no channels.
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
  DescribeLengthOfCut();
  DescribeFramesOfAvi();
  facts_.start = stream_->start_time;
  facts_.bit_rate = codec.bit_rate > 0 ? codec.bit_rate : format_->bit_rate;
  facts_.color_primaries = codec.color_primaries;
  facts_.color_transfer = codec.color_trc;
  facts_.color_space = codec.color_space;
  facts_.color_range = codec.color_range;
  facts_.chroma_location = codec.chroma_location;
  facts_.video_delay = codec.video_delay;
}

void Demuxer::DescribeFramesOfAvi() {
  if (facts_.container != "avi" || kind_ != StreamKind::kVideo) return;
  avi_index_ =
      AviIndex::Read(FileWindow(bytes_, size_), declared_size(), stream_index_);
  // An index that is damaged lists fewer.
  const bool is_whole =
      avi_index_ && avi_index_->chunks() == facts_.frame_count;
  if (is_whole) facts_.frame_count = avi_index_->frames();
  facts_.counts_empty_chunks = !is_whole;
}

void Demuxer::DescribeLengthOfCut() {
  // libavformat estimates how long such a file is, by its bytes.
  const std::string& container = facts_.container;
  const bool is_pcm = facts_.codec.starts_with("pcm_");
  const bool counts = container == "avi" || (container == "caf" && is_pcm);
  if ((!counts && container != "asf" && container != "wav") ||
      declared_size() <= size_) {
    return;
  }
  const AVRational unit = stream_->time_base;
  if (container == "asf") {
    const int64_t length = AsfMicroseconds(bytes_, size_);
    if (length > 0) {
      facts_.duration = av_rescale_q(length, AV_TIME_BASE_Q, unit);
    }
  } else if (container == "wav" && is_pcm &&
             stream_->codecpar->block_align > 0) {
    const ByteRange samples = WavSamples(bytes_, size_);
    facts_.duration =
        (samples.end - samples.begin) / stream_->codecpar->block_align;
  } else if (counts && stream_->nb_frames > facts_.duration) {
    facts_.duration = stream_->nb_frames;
  }
}

std::unique_ptr<PacketInspector> Demuxer::MakeInspector() const {
  return PacketInspector::Create(*stream_->codecpar);
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
    if (av_packet_->size > 0 && !IsBehindEnd()) {
      if (!borrows_) kept_.Keep(*av_packet_);
      return true;
    }
  }
  if (packet_too_large_) kept_.GiveUp();
  return false;
}

bool Demuxer::IsBehindEnd() {
  if (walk_ != nullptr || (av_packet_->flags & AV_PKT_FLAG_CORRUPT) == 0 ||
      std::string_view(format_->iformat->name) != "ivf") {
    return false;
  }
  // The header has the end of the stream in 32 bits.
  const bool has_end = ReadDeclaredFrames("ivf", bytes_, size_).frames > 0;
  if (has_end && (av_packet_->pts < 0 || av_packet_->pts > UINT32_MAX)) {
    return true;
  }
  FileWindow file(bytes_, size_);
  return av_packet_->pos >= PaddingStart(file);
}

ipc::Expected<bool> Demuxer::ReadPacket() {
  if (packets_before_lending_) IPC_TRY(Return());
  if (stream_ == nullptr) {
    return ipc::Fail(ipc::Code::kBadInput, name_ + " could not be reopened");
  }
  if (packet_is_pending_) {
    packet_is_pending_ = false;
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
  return true;
}

bool Demuxer::LostBefore() {
  return walk_ != nullptr && walk_->LostUntil(packet_.position);
}

bool Demuxer::DoubtsStart() {
  return walk_ != nullptr && walk_->DoubtsStart(packet_.position);
}

std::optional<uint64_t> Demuxer::ListedAsLost() {
  constexpr int64_t kChunkHeaderBytes = 8;
  if (avi_index_) {
    const auto frames = avi_index_->FramesBetween(
        lost_from(), packet_.position - kChunkHeaderBytes);
    if (frames) return frames;
  }
  // Finds the first entry at or behind an offset. In a damaged index it may be
  // any.
  const auto find = [this](int64_t offset) {
    int first = 0;
    int end = avformat_index_get_entries_count(stream_);
    while (first < end) {
      const int middle = first + (end - first) / 2;
      const AVIndexEntry* entry = avformat_index_get_entry(stream_, middle);
      if (entry != nullptr && entry->pos < offset) {
        first = middle + 1;
      } else {
        end = middle;
      }
    }
    return first;
  };
  // The packet's own entry has the offset of its header.
  const int listed = find(packet_.position) - 1 - find(lost_from());
  return listed > 0 ? std::make_optional(static_cast<uint64_t>(listed))
                    : std::nullopt;
}

bool Demuxer::LostAtEnd() {
  return walk_ != nullptr ? walk_->LostUntilEnd() : ListedBehindStop() > 0;
}

bool Demuxer::IsWholeAtEnd() const {
  return walk_ != nullptr && walk_->is_whole();
}

uint64_t Demuxer::LostPacketsAtEnd() const {
  return walk_ == nullptr ? ListedBehindStop() : walk_->lost_packets();
}

bool Demuxer::loss_may_tear() const {
  return walk_ != nullptr && walk_->is_torn();
}

bool Demuxer::breaks_inside() const {
  return walk_ != nullptr && walk_->breaks_inside();
}

int64_t Demuxer::declared_size() const {
  return DeclaredSize(facts_.container, bytes_, size_);
}

uint64_t Demuxer::ListedBehindStop() const {
  if (stream_ == nullptr || walk_ != nullptr || !format_->pb->eof_reached ||
      facts_.container != "mov,mp4,m4a,3gp,3g2,mj2" ||
      packet_.dts == BULKHEAD_NO_TIMESTAMP || declared_size() > size_) {
    return 0;
  }
  uint64_t packets = 0;
  for (int i = avformat_index_get_entries_count(stream_); i > 0; --i) {
    const AVIndexEntry* entry = avformat_index_get_entry(stream_, i - 1);
    if (entry == nullptr || entry->timestamp <= packet_.dts) break;
    const bool is_hidden = (entry->flags & AVINDEX_DISCARD_FRAME) != 0;
    if (entry->size > 0 && !is_hidden) ++packets;
  }
  return packets;
}

DeclaredFrames Demuxer::declared_frames() const {
  return ReadDeclaredFrames(facts_.container, bytes_, size_);
}

int64_t Demuxer::lost_from() const {
  return walk_ == nullptr ? -1 : walk_->broken_at();
}

bool Demuxer::cut_short() const { return file_ && file_->cut_short(); }

bool Demuxer::disposable() const {
  return (av_packet_->flags & AV_PKT_FLAG_DISPOSABLE) != 0;
}

ipc::Expected<void> Demuxer::SeekToKeyframe(int64_t timestamp) {
  if (stream_ == nullptr) return SeekToBeginning();
  at_beginning_ = false;
  kept_.GiveUp();
  packets_before_lending_.reset();
  if (walk_ != nullptr) walk_->Restart();
  const AVRational base = stream_->time_base;
  const int64_t second =
      base.num > 0 ? std::max<int64_t>(base.den / base.num, 1) : 1;
  int64_t target = timestamp;
  for (int attempt = 0; attempt < kMostSeeks; ++attempt) {
    packet_is_pending_ = false;
    const int result =
        av_seek_frame(format_, stream_index_, target, AVSEEK_FLAG_BACKWARD);
    if (result < 0 && attempt == 0) {
      return ipc::Fail(ipc::Code::kOutOfRange,
                       name_ + " cannot seek to timestamp " +
                           std::to_string(timestamp) + ": " +
                           AvErrorText(result) + "; read from the beginning");
    }
    if (result < 0) break;
    // A seek may end up at any packet (transport streams are sought by time,
    // not by keyframe), so this looks for the next keyframe not after
    // `timestamp`.
    while (NextAvPacket()) {
      const int64_t latest =
          LatestTimestamp(*av_packet_, stream_->codecpar->video_delay);
      if (latest == AV_NOPTS_VALUE || latest > timestamp) break;
      if ((av_packet_->flags & AV_PKT_FLAG_KEY) == 0) continue;
      packet_is_pending_ = true;
      // Reading packets may have replaced the memory that the parameters of the
      // stream point to.
      parameters_ = libav_format::ParametersOf(*stream_, &stream_side_data_);
      return {};
    }
    if (__builtin_sub_overflow(target, second << attempt, &target)) break;
  }
  return SeekToBeginning();
}

int64_t Demuxer::entry() const {
  return av_packet_->pts != AV_NOPTS_VALUE ? av_packet_->pts : av_packet_->dts;
}

ipc::Expected<void> Demuxer::SeekToBeginning() {
  if (at_beginning_ && stream_ != nullptr && !packets_before_lending_) {
    return {};
  }
  CloseInput();
  return OpenInput();
}

}  // namespace bulkhead::worker
