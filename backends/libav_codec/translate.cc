// SPDX-License-Identifier: Apache-2.0
#include "backends/libav_codec/translate.h"

#include <cstring>
#include <limits>
#include <optional>
#include <string_view>

extern "C" {
#include <libavutil/channel_layout.h>
#include <libavutil/mem.h>
#include <libavutil/pixdesc.h>
#include <libavutil/samplefmt.h>
}

namespace bulkhead::libav_codec {
namespace {

tl::unexpected<Failure> OutOfMemory(const char* what) {
  return Fail(BULKHEAD_OUT_OF_MEMORY, std::string("no memory for ") + what);
}

std::optional<AVPacketSideDataType> SideDataType(const char* kind) {
  if (kind == nullptr) return std::nullopt;
  for (int type = 0; type < AV_PKT_DATA_NB; ++type) {
    const auto candidate = static_cast<AVPacketSideDataType>(type);
    const char* name = av_packet_side_data_name(candidate);
    if (name != nullptr && std::string_view(name) == kind) return candidate;
  }
  return std::nullopt;
}

bool AddSideData(AVPacketSideDataType type, const uint8_t* data, size_t bytes,
                 AVPacket* packet) {
  uint8_t* copy = av_packet_new_side_data(packet, type, bytes);
  if (copy == nullptr) return false;
  if (bytes > 0) std::memcpy(copy, data, bytes);
  return true;
}

// Adds side data of the stream to a packet that has none of this type.
bool AddIfMissing(AVPacketSideDataType type, const uint8_t* data, size_t bytes,
                  AVPacket* packet) {
  if (type == AV_PKT_DATA_DISPLAYMATRIX) return true;
  if (av_packet_get_side_data(packet, type, nullptr) != nullptr) return true;
  return AddSideData(type, data, bytes, packet);
}

int PacketFlags(uint32_t flags) {
  return (flags & BULKHEAD_PACKET_KEYFRAME ? AV_PKT_FLAG_KEY : 0) |
         (flags & BULKHEAD_PACKET_CORRUPT ? AV_PKT_FLAG_CORRUPT : 0) |
         (flags & BULKHEAD_PACKET_DISCARD ? AV_PKT_FLAG_DISCARD : 0);
}

AVChannelLayout LayoutOf(const bulkhead_codec_parameters& from) {
  AVChannelLayout layout = {};
  if (from.channel_mask == 0 ||
      av_channel_layout_from_mask(&layout, from.channel_mask) < 0) {
    layout = {.order = AV_CHANNEL_ORDER_UNSPEC,
              .nb_channels = from.channels,
              .u = {},
              .opaque = nullptr};
  }
  return layout;
}

void SetAudioParameters(const bulkhead_codec_parameters& from,
                        AVCodecParameters* to) {
  to->format = from.sample_format != nullptr
                   ? av_get_sample_fmt(from.sample_format)
                   : AV_SAMPLE_FMT_NONE;
  to->sample_rate = from.sample_rate;
  to->ch_layout = LayoutOf(from);
  to->block_align = from.block_align;
  to->frame_size = from.frame_size;
  to->initial_padding = from.initial_padding;
  to->trailing_padding = from.trailing_padding;
  to->seek_preroll = from.seek_preroll;
}

void DescribeAudio(const AVFrame& from, bulkhead_frame* to) {
  to->sample_format =
      av_get_sample_fmt_name(static_cast<AVSampleFormat>(from.format));
  to->sample_rate = from.sample_rate;
  to->channels = from.ch_layout.nb_channels;
  if (from.ch_layout.order == AV_CHANNEL_ORDER_NATIVE) {
    to->channel_mask = from.ch_layout.u.mask;
  }
  to->sample_count = from.nb_samples;
  to->planes = from.extended_data;
  to->pts = from.best_effort_timestamp;
  to->duration = from.pkt_duration;
}

}  // namespace

bool IsAudio(const AVFrame& frame) { return frame.nb_samples > 0; }

AVRational ToRational(bulkhead_rational value) {
  if (value.denominator == 0) return {0, 1};
  return {value.numerator, value.denominator};
}

Expected<CodecParametersPtr> ToCodecParameters(
    const bulkhead_codec_parameters& from, const AVCodec& codec) {
  CodecParametersPtr to(avcodec_parameters_alloc());
  if (!to) return OutOfMemory("the codec's parameters");
  to->codec_type = codec.type;
  to->codec_id = codec.id;
  to->codec_tag = from.codec_tag;
  if (from.extradata_bytes > 0) {
    to->extradata = static_cast<uint8_t*>(
        av_mallocz(from.extradata_bytes + AV_INPUT_BUFFER_PADDING_SIZE));
    if (to->extradata == nullptr) return OutOfMemory("the extradata");
    std::memcpy(to->extradata, from.extradata, from.extradata_bytes);
    to->extradata_size = static_cast<int>(from.extradata_bytes);
  }
  to->profile = from.profile;
  to->level = from.level;
  to->bits_per_coded_sample = from.bits_per_coded_sample;
  to->bits_per_raw_sample = from.bits_per_raw_sample;
  to->bit_rate = from.bit_rate;
  if (codec.type == AVMEDIA_TYPE_AUDIO) {
    SetAudioParameters(from, to.get());
    return to;
  }
  to->width = from.width;
  to->height = from.height;
  to->format = from.pixel_format != nullptr ? av_get_pix_fmt(from.pixel_format)
                                            : AV_PIX_FMT_NONE;
  to->field_order = static_cast<AVFieldOrder>(from.field_order);
  to->video_delay = from.video_delay;
  to->chroma_location = static_cast<AVChromaLocation>(from.chroma_location);
  to->color_range = static_cast<AVColorRange>(from.color_range);
  to->color_primaries = static_cast<AVColorPrimaries>(from.color_primaries);
  to->color_trc =
      static_cast<AVColorTransferCharacteristic>(from.color_transfer);
  to->color_space = static_cast<AVColorSpace>(from.color_space);
  to->sample_aspect_ratio = ToRational(from.sample_aspect_ratio);
  return to;
}

Expected<PacketPtr> ToPacket(const bulkhead_packet& from) {
  if (from.bytes > static_cast<size_t>(std::numeric_limits<int>::max() -
                                       AV_INPUT_BUFFER_PADDING_SIZE)) {
    return Fail(BULKHEAD_BAD_INPUT, "a packet is larger than 2 GiB");
  }
  PacketPtr to(av_packet_alloc());
  if (!to || av_new_packet(to.get(), static_cast<int>(from.bytes)) < 0) {
    return OutOfMemory("a packet");
  }
  if (from.bytes > 0) std::memcpy(to->data, from.data, from.bytes);
  to->flags = PacketFlags(from.flags);
  to->pts = from.pts;
  to->dts = from.dts;
  to->duration = from.duration;
  to->pos = from.position;
  for (size_t i = 0; i < from.side_data_count; ++i) {
    const bulkhead_side_data& blob = from.side_data[i];
    const auto type = SideDataType(blob.kind);
    if (type && !AddSideData(*type, blob.data, blob.bytes, to.get())) {
      return OutOfMemory("a packet's side data");
    }
  }
  return to;
}

bool AddStreamSideData(const bulkhead_side_data* side_data, size_t count,
                       AVPacket* packet) {
  for (size_t i = 0; i < count; ++i) {
    const auto type = SideDataType(side_data[i].kind);
    if (type &&
        !AddIfMissing(*type, side_data[i].data, side_data[i].bytes, packet)) {
      return false;
    }
  }
  return true;
}

bool AddStreamSideData(const AVPacket& from, AVPacket* packet) {
  for (int i = 0; i < from.side_data_elems; ++i) {
    const AVPacketSideData& blob = from.side_data[i];
    if (!AddIfMissing(blob.type, blob.data, blob.size, packet)) return false;
  }
  return true;
}

void DescribeFrame(const AVFrame& from, bulkhead_frame* to) {
  *to = {.size = sizeof(*to)};
  if (IsAudio(from)) return DescribeAudio(from, to);
  const auto format = static_cast<AVPixelFormat>(from.format);
  to->pixel_format = av_get_pix_fmt_name(format);
  to->width = from.width;
  to->height = from.height;
  while (to->plane_count < BULKHEAD_MAX_PLANES &&
         from.data[to->plane_count] != nullptr) {
    to->data[to->plane_count] = from.data[to->plane_count];
    to->stride[to->plane_count] = from.linesize[to->plane_count];
    ++to->plane_count;
  }
  to->pts = from.best_effort_timestamp;
  to->duration = from.pkt_duration;
  to->keyframe = from.key_frame;
  to->interlaced = from.interlaced_frame;
  to->top_field_first = from.top_field_first;
  to->color_range = from.color_range;
  to->color_primaries = from.color_primaries;
  to->color_transfer = from.color_trc;
  to->color_space = from.colorspace;
  to->chroma_location = from.chroma_location;
  to->sample_aspect_ratio = {from.sample_aspect_ratio.num,
                             from.sample_aspect_ratio.den};
  to->damaged =
      (from.flags & AV_FRAME_FLAG_CORRUPT) != 0 || from.decode_error_flags != 0;
  const AVFrameSideData* matrix =
      av_frame_get_side_data(&from, AV_FRAME_DATA_DISPLAYMATRIX);
  if (matrix != nullptr && matrix->size >= sizeof(to->display_matrix)) {
    to->has_display_matrix = 1;
    std::memcpy(to->display_matrix, matrix->data, sizeof(to->display_matrix));
  }
}

}  // namespace bulkhead::libav_codec
