// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/session/describe.h"

#include <algorithm>
#include <array>
#include <climits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/avutil.h>
#include <libavutil/channel_layout.h>
#include <libavutil/dict.h>
#include <libavutil/pixdesc.h>
#include <libavutil/rational.h>
#include <libavutil/samplefmt.h>
}

#include "backends/worker/media/demux/allowed_media.h"
#include "backends/worker/media/demux/display.h"
#include "backends/worker/media/demux/media_file.h"
#include "backends/worker/session/allowed_lists.h"
#include "ipc/try.h"

namespace bulkhead::worker::session {
namespace {

namespace schema = ipc::schema;
using Kind = schema::StreamDescription::Kind;

constexpr size_t kMaxNameBytes = 128;
constexpr size_t kMaxTitleBytes = 512;
// Room for six names, a title, and the fields of fixed size.
constexpr size_t kDescriptionWords = 512;

// The packets of one stream: their number and their time range.
struct Content {
  uint64_t packets = 0;
  int64_t begin = AV_NOPTS_VALUE;
  int64_t end = AV_NOPTS_VALUE;
};

std::string Text(const char* text, size_t max_bytes = kMaxNameBytes) {
  return text == nullptr ? "" : std::string(text).substr(0, max_bytes);
}

std::string Tag(const AVDictionary* tags, const char* key, size_t max_bytes) {
  const AVDictionaryEntry* tag = av_dict_get(tags, key, nullptr, 0);
  return tag == nullptr ? "" : Text(tag->value, max_bytes);
}

void Set(ipc::schema::Rational::Builder out, AVRational rational) {
  out.setNumerator(rational.num);
  out.setDenominator(rational.den);
}

Kind KindOf(AVMediaType type) {
  switch (type) {
    case AVMEDIA_TYPE_VIDEO:
      return Kind::VIDEO;
    case AVMEDIA_TYPE_AUDIO:
      return Kind::AUDIO;
    case AVMEDIA_TYPE_SUBTITLE:
      return Kind::SUBTITLE;
    case AVMEDIA_TYPE_DATA:
      return Kind::DATA;
    case AVMEDIA_TYPE_ATTACHMENT:
      return Kind::ATTACHMENT;
    default:
      return Kind::UNKNOWN;
  }
}

void FillContainer(const AVFormatContext& format,
                   schema::ContainerDescription::Builder out) {
  out.setFormat(Text(format.iformat->name));
  out.setStreamCount(format.nb_streams);
  out.setDuration(format.duration);
  out.setStart(format.start_time);
  out.setBitRate(std::max<int64_t>(format.bit_rate, 0));
  const auto best = [&](AVMediaType type) {
    const int index =
        av_find_best_stream(const_cast<AVFormatContext*>(&format), type, -1, -1,
                            /*decoder_ret=*/nullptr, 0);
    return std::max(index, -1);
  };
  out.setBestVideoStream(best(AVMEDIA_TYPE_VIDEO));
  out.setBestAudioStream(best(AVMEDIA_TYPE_AUDIO));
  out.setTitle(Tag(format.metadata, "title", kMaxTitleBytes));
}

void FillVideo(const AVStream& stream, schema::StreamDescription::Builder out) {
  const AVCodecParameters& codec = *stream.codecpar;
  const demux::Display display = demux::DisplayOf(stream);
  out.setWidth(display.width);
  out.setHeight(display.height);
  out.setRotation(display.orientation.degrees);
  out.setVerticalFlip(display.orientation.vertical_flip);
  AVRational aspect{};
  av_reduce(&aspect.num, &aspect.den, display.sample_aspect_ratio.numerator,
            display.sample_aspect_ratio.denominator, INT_MAX);
  Set(out.initSampleAspectRatio(), aspect);
  Set(out.initAverageFrameRate(), stream.avg_frame_rate);
  Set(out.initBaseFrameRate(), stream.r_frame_rate);
  out.setPixelFormat(
      Text(av_get_pix_fmt_name(static_cast<AVPixelFormat>(codec.format))));
  out.setColorPrimaries(codec.color_primaries);
  out.setColorTransfer(codec.color_trc);
  out.setColorSpace(codec.color_space);
  out.setColorRange(codec.color_range);
}

void FillAudio(const AVStream& stream, schema::StreamDescription::Builder out) {
  const AVCodecParameters& codec = *stream.codecpar;
  out.setSampleFormat(
      Text(av_get_sample_fmt_name(static_cast<AVSampleFormat>(codec.format))));
  out.setSampleRate(static_cast<uint32_t>(std::max(codec.sample_rate, 0)));
  out.setChannels(
      static_cast<uint32_t>(std::max(codec.ch_layout.nb_channels, 0)));
  std::array<char, kMaxNameBytes> layout{};
  if (codec.ch_layout.order != AV_CHANNEL_ORDER_UNSPEC &&
      av_channel_layout_describe(&codec.ch_layout, layout.data(),
                                 layout.size()) > 0) {
    out.setChannelLayout(layout.data());
  }
}

void FillStream(const AVStream& stream,
                schema::StreamDescription::Builder out) {
  const AVCodecParameters& codec = *stream.codecpar;
  out.setIndex(static_cast<uint32_t>(stream.index));
  out.setKind(KindOf(codec.codec_type));
  if (codec.codec_id != AV_CODEC_ID_NONE) {
    out.setCodec(Text(avcodec_get_name(codec.codec_id)));
  }
  out.setProfile(Text(avcodec_profile_name(codec.codec_id, codec.profile)));
  out.setLanguage(Tag(stream.metadata, "language", kMaxNameBytes));
  out.setTitle(Tag(stream.metadata, "title", kMaxTitleBytes));
  out.setIsDefault((stream.disposition & AV_DISPOSITION_DEFAULT) != 0);
  out.setIsCover((stream.disposition & AV_DISPOSITION_ATTACHED_PIC) != 0);
  Set(out.initTimeBase(), stream.time_base);
  out.setStart(stream.start_time);
  out.setDuration(stream.duration);
  out.setBitRate(std::max<int64_t>(codec.bit_rate, 0));
  if (codec.codec_type == AVMEDIA_TYPE_VIDEO) FillVideo(stream, out);
  if (codec.codec_type == AVMEDIA_TYPE_AUDIO) FillAudio(stream, out);
}

// Adds a packet to the content of its stream.
void Count(const AVPacket& packet, Content& content) {
  if (packet.size == 0 || (packet.flags & AV_PKT_FLAG_DISCARD) != 0) return;
  ++content.packets;
  const int64_t time = packet.pts != AV_NOPTS_VALUE ? packet.pts : packet.dts;
  if (time == AV_NOPTS_VALUE) return;
  if (content.begin == AV_NOPTS_VALUE || time < content.begin) {
    content.begin = time;
  }
  int64_t end;
  if (__builtin_add_overflow(time, packet.duration, &end)) return;
  // An unset end is AV_NOPTS_VALUE, the smallest number, so max() replaces it.
  content.end = std::max(content.end, end);
}

// Reads all packets and returns the content of each stream. Reports progress to
// the host. Ignores streams that appear only while packets are read, since the
// description does not contain them.
ipc::Expected<std::vector<Content>> Scan(demux::MediaFile& file,
                                         HostReplies& replies) {
  std::vector<Content> contents(file.format()->nb_streams);
  const auto free_packet = [](AVPacket* packet) { av_packet_free(&packet); };
  const std::unique_ptr<AVPacket, decltype(free_packet)> packet(
      av_packet_alloc(), free_packet);
  if (packet == nullptr) {
    return ipc::Fail(ipc::Code::kInternal, "no memory for a packet");
  }
  uint64_t packets = 0;
  while (file.ReadPacket(packet.get())) {
    const auto index = static_cast<size_t>(packet->stream_index);
    if (index < contents.size()) Count(*packet, contents[index]);
    if (++packets % schema::PACKETS_PER_REPORT != 0) continue;
    IPC_TRY(replies.Send(kSmallReplyWords, [&](schema::Reply::Builder reply) {
      reply.initDescribed().setScanned(packets);
    }));
  }
  if (file.read_error() != 0) {
    return ipc::FailErrno(ipc::Code::kBadInput,
                          file.name() + " cannot be read further",
                          file.read_error());
  }
  return contents;
}

}  // namespace

ipc::Expected<void> Describe(HostReplies& replies, demux::MediaBytes media,
                             schema::Describe::Reader describe) {
  const demux::AllowedMedia allowed = AllowedMediaOf(describe.getAllowed());
  const auto open = [&] {
    return demux::MediaFile::Open(media, describe.getMediaBytes(),
                                  describe.getNameHint().cStr(),
                                  describe.getMaxStreams(), allowed);
  };
  IPC_ASSIGN_OR_RETURN(const auto file, open());
  const AVFormatContext& format = *file->format();
  const uint32_t count = format.nb_streams;
  std::vector<Content> contents;
  if (describe.getScan()) {
    // Scans with a second demuxer, since reading packets changes what
    // libavformat reports about the header. The description must not depend on
    // the scan.
    IPC_ASSIGN_OR_RETURN(const auto again, open());
    IPC_ASSIGN_OR_RETURN(contents, Scan(*again, replies));
    contents.resize(count);
  }
  IPC_TRY(replies.Send(kDescriptionWords, [&](schema::Reply::Builder reply) {
    auto container = reply.initDescribed().initContainer();
    FillContainer(format, container);
    container.setStreamCount(count);
  }));
  for (uint32_t i = 0; i < count; ++i) {
    IPC_TRY(replies.Send(kDescriptionWords, [&](schema::Reply::Builder reply) {
      auto stream = reply.initDescribed().initStream();
      FillStream(*format.streams[i], stream);
      stream.setFrameCount(static_cast<uint64_t>(
          std::max<int64_t>(format.streams[i]->nb_frames, 0)));
      // The packets of a stream that is not allowed were not read.
      if (contents.empty() || !allowed.Allows(*format.streams[i])) return;
      auto content = stream.getContent();
      content.setScanned(true);
      content.setPacketCount(contents[i].packets);
      content.setBegin(contents[i].begin);
      content.setEnd(contents[i].end);
    }));
  }
  return {};
}

}  // namespace bulkhead::worker::session
