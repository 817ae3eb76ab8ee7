// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/demux/media_file.h"

#include <errno.h>

#include <algorithm>
#include <array>
#include <climits>
#include <memory>
#include <utility>

extern "C" {
#include <libavcodec/packet.h>
#include <libavformat/avformat.h>
#include <libavutil/dict.h>
#include <libavutil/error.h>
#include <libavutil/mem.h>
}

#include "backends/worker/media/demux/byte_range.h"
#include "backends/worker/media/demux/container_names.h"
#include "backends/worker/media/demux/media_source.h"
#include "backends/worker/media/demux/picture_data.h"
#include "ipc/limit_name.h"
#include "ipc/try.h"

namespace bulkhead::worker::demux {
namespace {

// The most times that a demuxer may answer EAGAIN in a row. A hostile file can
// make a demuxer do so for ever; the file is then taken to be at its end.
constexpr int kMostRetries = 1 << 20;

// Returns true for a container without media of its own: a playlist, a
// manifest, a script or the description of a broadcast. Its demuxer is not run,
// since its error would not show why it can open nothing.
bool OnlyRefers(const AVInputFormat& container) {
  static constexpr std::array<std::string_view, 10> kNames = {
      "avisynth", "concat", "dash", "hls",         "imf",
      "rtp",      "rtsp",   "sdp",  "vapoursynth", "webm_dash_manifest"};
  return std::find(kNames.begin(), kNames.end(), container.name) !=
         kNames.end();
}

struct FreePacket {
  void operator()(AVPacket* packet) const { av_packet_free(&packet); }
};
using PacketPtr = std::unique_ptr<AVPacket, FreePacket>;

// The most bytes that are read to find the first packets.
constexpr int64_t kMostFirstBytes = 4 << 20;

}  // namespace

std::string AvErrorText(int av_error) {
  char text[AV_ERROR_MAX_STRING_SIZE] = {};
  av_strerror(av_error, text, sizeof(text));
  return text;
}

ipc::Expected<std::unique_ptr<MediaFile>> MediaFile::Open(
    MediaBytes bytes, int64_t size, std::string_view name, uint32_t max_streams,
    const AllowedMedia& allowed) {
  std::unique_ptr<MediaFile> file(new MediaFile(name, max_streams, allowed));
  IPC_TRY(file->OpenHeader(bytes, size, 0));
  if (allowed.codecs) {
    // Finds streams that are not allowed before a parser runs on them.
    MediaFile unparsed(name, max_streams, allowed);
    IPC_TRY(unparsed.OpenHeader(bytes, size,
                                AVFMT_FLAG_NOPARSE | AVFMT_FLAG_NOFILLIN));
    IPC_TRY(unparsed.LookThrough());
  }
  if (file->MayReadOn()) {
    const int result = file->FindStreamInfo(bytes, size);
    if (result < 0 && file->format_->nb_streams == 0) {
      return tl::unexpected(file->OpenFailure(result));
    }
  }
  IPC_TRY(file->CheckStreams());
  return file;
}

MediaFile::MediaFile(std::string_view name, uint32_t max_streams,
                     const AllowedMedia& allowed)
    : name_(name), max_streams_(max_streams), allowed_(allowed) {}

ipc::Expected<void> MediaFile::OpenHeader(MediaBytes bytes, int64_t size,
                                          int flags) {
  IPC_ASSIGN_OR_RETURN(source_, MediaSource::Create(bytes, size, [this] {
                         return MayReadOn();
                       }));
  format_ = avformat_alloc_context();
  if (format_ == nullptr) {
    return ipc::Fail(ipc::Code::kInternal, "no memory for a demuxer");
  }
  format_->pb = source_->context();
  format_->opaque = this;
  format_->io_open = [](AVFormatContext* context, AVIOContext** io,
                        const char* url, int open_flags,
                        AVDictionary** options) {
    return RefuseToOpen(context, io, url, open_flags, options);
  };
  format_->flags |= AVFMT_FLAG_CUSTOM_IO | AVFMT_FLAG_NONBLOCK | flags;
  format_->protocol_whitelist = av_strdup("");
  allowed_.Restrict(*format_);
  // libavformat reports its own limit like a lack of memory. Ours is checked at
  // every read and after the header, and gets a message of its own.
  format_->max_streams = INT_MAX;

  // libavformat does not say which container it refuses or cannot open, so the
  // container is found here first, in the same way as in avformat_open_input.
  const AVInputFormat* container = nullptr;
  const int found =
      av_probe_input_buffer2(format_->pb, &container, name_.c_str(), format_, 0,
                             static_cast<unsigned>(format_->format_probesize));
  if (found < 0) return tl::unexpected(OpenFailure(found));
  IPC_TRY(allowed_.Check(*container));
  if (OnlyRefers(*container)) {
    return tl::unexpected(Reference("is of the container " +
                                    std::string(container->name) + ", which"));
  }
  // The ffmpeg command sets this option too. It decides which programs of a
  // transport stream are found.
  AVDictionary* options = nullptr;
  av_dict_set(&options, "scan_all_pmts", "1", 0);
  const int result =
      avformat_open_input(&format_, name_.c_str(), container, &options);
  av_dict_free(&options);
  if (result < 0) return tl::unexpected(OpenFailure(result));
  for (unsigned i = 0; i < format_->nb_streams; ++i) {
    AVStream& stream = *format_->streams[i];
    set_aside_.push_back(!allowed_.Allows(stream));
    if (set_aside_.back()) stream.discard = AVDISCARD_ALL;
  }
  header_is_read_ = true;
  return {};
}

std::vector<PacketPlace> MediaFile::FirstPackets(MediaBytes bytes,
                                                 int64_t size) const {
  const std::string_view container = format_->iformat->name;
  if (container == kMp4) return PlacesInTables(*format_);
  std::vector<PacketPlace> places;
  if (container != kMatroska) return places;
  // Matroska has no table of packets, so they must be read. Another MediaFile
  // reads them, since libavformat must still get them when it probes this one.
  MediaFile other(name_, max_streams_, allowed_);
  const PacketPtr packet(av_packet_alloc());
  if (packet == nullptr || !other.OpenHeader(bytes, size, 0)) return places;
  int64_t read = 0;
  for (int i = 0; i < kMostFirstPackets && read < kMostFirstBytes &&
                  other.ReadPacket(packet.get());
       ++i) {
    read += packet->size;
    const AVStream& stream = *other.format_->streams[packet->stream_index];
    if (stream.codecpar->codec_type != AVMEDIA_TYPE_VIDEO) continue;
    if (packet->size > kMostFirstBytes) continue;
    if (const auto place = PlaceInBlock(*packet, bytes)) {
      places.push_back(*place);
    }
  }
  return places;
}

int MediaFile::FindStreamInfo(MediaBytes bytes, int64_t size) {
  first_packets_ = FirstPackets(bytes, size);
  auto ranges = PictureDataOf(*format_, first_packets_, bytes, size);
  if (ranges.empty()) return avformat_find_stream_info(format_, nullptr);
  // Switches error concealment off: decoders would spend time to fill in the
  // slices that break off.
  std::vector<AVDictionary*> options(format_->nb_streams);
  for (AVDictionary*& option : options) av_dict_set(&option, "ec", "0", 0);
  source_->Hide(std::move(ranges));
  const int result = avformat_find_stream_info(format_, options.data());
  source_->Unhide();
  for (AVDictionary*& option : options) av_dict_free(&option);
  return result;
}

ipc::Expected<void> MediaFile::LookThrough() {
  const PacketPtr packet(av_packet_alloc());
  if (packet == nullptr) {
    return ipc::Fail(ipc::Code::kInternal, "no memory for a packet");
  }
  int64_t bytes = 0;
  while (bytes < format_->probesize && ReadPacket(packet.get())) {
    bytes += packet->size;
  }
  return CheckStreams();
}

MediaFile::~MediaFile() { avformat_close_input(&format_); }

bool MediaFile::MayReadOn() {
  if (format_ != nullptr && format_->nb_streams > max_streams_) {
    too_many_streams_ = true;
  }
  // Before the end of the header, a stream may not have its codec yet.
  for (unsigned i = 0; header_is_read_ && i < format_->nb_streams; ++i) {
    const bool aside = i < set_aside_.size() && set_aside_[i];
    if (aside || allowed_.Allows(*format_->streams[i])) continue;
    refused_stream_ = format_->streams[i];
    break;
  }
  return !too_many_streams_ && refused_stream_ == nullptr;
}

ipc::Expected<void> MediaFile::CheckStreams() {
  if (MayReadOn()) return {};
  if (refused_stream_ != nullptr) return CheckCodec(*refused_stream_);
  return ipc::Fail(ipc::Code::kResourceExhausted,
                   "it has more than " + std::to_string(max_streams_) +
                       " streams; raise " + ipc::LimitName("streams"));
}

bool MediaFile::ReadPacket(AVPacket* packet) {
  int result = AVERROR(EAGAIN);
  for (int retries = 0; result == AVERROR(EAGAIN) && retries < kMostRetries;
       ++retries) {
    av_packet_unref(packet);
    result = av_read_frame(format_, packet);
  }
  stop_error_ = result < 0 && result != AVERROR_EOF ? AvErrorText(result) : "";
  return result >= 0 && Mend(*packet);
}

bool MediaFile::Mend(AVPacket& packet) const {
  if (first_packets_.empty() || packet.pos < 0) return true;
  int64_t begin = packet.pos;
  // In Matroska, packet.pos is where the contents of the packet's block begin,
  // not the packet's bytes. first_packets_ has the place of those bytes; a
  // packet that is not there is left as it is.
  if (std::string_view(format_->iformat->name) == kMatroska) {
    const auto place = std::find_if(
        first_packets_.begin(), first_packets_.end(),
        [&packet](const PacketPlace& first) {
          return first.position == packet.pos &&
                 first.bytes.end - first.bytes.begin == packet.size;
        });
    if (place == first_packets_.end()) return true;
    begin = place->bytes.begin;
  }
  if (!source_->Hid({begin, begin + packet.size})) return true;
  return av_packet_make_writable(&packet) >= 0 &&
         source_->ReadHidden(begin,
                             {packet.data, static_cast<size_t>(packet.size)});
}

int MediaFile::read_error() const { return source_->read_error(); }
bool MediaFile::shrank() const { return source_->shrank(); }

int MediaFile::RefuseToOpen(AVFormatContext* context, AVIOContext** io,
                            const char* /*url*/, int /*flags*/,
                            void* /*options*/) {
  *io = nullptr;
  ++static_cast<MediaFile*>(context->opaque)->refused_references_;
  return AVERROR(EACCES);
}

ipc::Error MediaFile::Reference(const std::string& what) const {
  return {ipc::Code::kUnsupported,
          "it " + what + (what.empty() ? "" : " ") +
              "refers to other files, and a session opens no file but the one "
              "it was given: decode those files instead"};
}

ipc::Error MediaFile::OpenFailure(int av_error) {
  if (auto ok = CheckStreams(); !ok) return std::move(ok).error();
  if (source_->read_error() != 0) {
    return ipc::FailErrno(ipc::Code::kBadInput, "it cannot be read",
                          source_->read_error())
        .value();
  }
  if (refers_to_others()) return Reference("");
  const std::string text = "it cannot be opened as media";
  const std::string says = "FFmpeg says: " + AvErrorText(av_error);
  if (av_error == AVERROR(ENOMEM)) {
    return {ipc::Code::kResourceExhausted, text + ": " + says};
  }
  // The message says that the file is at fault, since FFmpeg's text may speak
  // of arguments or devices.
  return {ipc::Code::kBadInput,
          text +
              ": it is of no kind that FFmpeg knows, or its header is damaged "
              "or cut off (" +
              says + ")"};
}

}  // namespace bulkhead::worker::demux
