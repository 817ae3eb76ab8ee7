// SPDX-License-Identifier: Apache-2.0
#include "backends/libav_format/stream_to_abi.h"

#include <algorithm>

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/pixdesc.h>
#include <libavutil/samplefmt.h>
}

namespace bulkhead::libav_format {
namespace {

bulkhead_rational FromAv(AVRational value) { return {value.num, value.den}; }

void ListSideData(const AVPacketSideData* data, int count,
                  std::vector<bulkhead_side_data>* out) {
  out->clear();
  for (int i = 0; i < count; ++i) {
    // A kind that this libavcodec cannot name has no name in the ABI either.
    const char* kind = av_packet_side_data_name(data[i].type);
    if (kind != nullptr) out->push_back({kind, data[i].data, data[i].size});
  }
}

void AddAudio(const AVCodecParameters& codec, bulkhead_codec_parameters* out) {
  out->stream_kind = BULKHEAD_STREAM_AUDIO;
  out->pixel_format = nullptr;
  out->sample_format =
      av_get_sample_fmt_name(static_cast<AVSampleFormat>(codec.format));
  out->sample_rate = codec.sample_rate;
  out->channels = codec.ch_layout.nb_channels;
  if (codec.ch_layout.order == AV_CHANNEL_ORDER_NATIVE) {
    out->channel_mask = codec.ch_layout.u.mask;
  }
  out->block_align = codec.block_align;
  out->frame_size = codec.frame_size;
  out->initial_padding = codec.initial_padding;
  out->trailing_padding = codec.trailing_padding;
  out->seek_preroll = codec.seek_preroll;
}

}  // namespace

bulkhead_codec_parameters ParametersOf(
    const AVStream& stream, std::vector<bulkhead_side_data>* side_data) {
  const AVCodecParameters& codec = *stream.codecpar;
  ListSideData(stream.side_data, stream.nb_side_data, side_data);
  bulkhead_codec_parameters parameters = {
      .size = sizeof(parameters),
      .codec = avcodec_get_name(codec.codec_id),
      .codec_tag = codec.codec_tag,
      .extradata = codec.extradata,
      .extradata_bytes = static_cast<size_t>(std::max(codec.extradata_size, 0)),
      .width = codec.width,
      .height = codec.height,
      .pixel_format =
          av_get_pix_fmt_name(static_cast<AVPixelFormat>(codec.format)),
      .profile = codec.profile,
      .level = codec.level,
      .bits_per_coded_sample = codec.bits_per_coded_sample,
      .bits_per_raw_sample = codec.bits_per_raw_sample,
      .bit_rate = codec.bit_rate,
      .field_order = codec.field_order,
      .video_delay = codec.video_delay,
      .chroma_location = codec.chroma_location,
      .color_range = codec.color_range,
      .color_primaries = codec.color_primaries,
      .color_transfer = codec.color_trc,
      .color_space = codec.color_space,
      .sample_aspect_ratio = FromAv(codec.sample_aspect_ratio),
      .time_base = FromAv(stream.time_base),
      .frame_rate = FromAv(stream.avg_frame_rate),
      .side_data = side_data->data(),
      .side_data_count = side_data->size(),
  };
  if (codec.codec_type == AVMEDIA_TYPE_AUDIO) AddAudio(codec, &parameters);
  return parameters;
}

bulkhead_packet PacketOf(const AVPacket& packet,
                         std::vector<bulkhead_side_data>* side_data) {
  ListSideData(packet.side_data, packet.side_data_elems, side_data);
  uint32_t flags = 0;
  if (packet.flags & AV_PKT_FLAG_KEY) flags |= BULKHEAD_PACKET_KEYFRAME;
  if (packet.flags & AV_PKT_FLAG_CORRUPT) flags |= BULKHEAD_PACKET_CORRUPT;
  if (packet.flags & AV_PKT_FLAG_DISCARD) flags |= BULKHEAD_PACKET_DISCARD;
  return {
      .size = sizeof(bulkhead_packet),
      .flags = flags,
      .data = packet.data,
      .bytes = static_cast<size_t>(packet.size),
      .pts = packet.pts,
      .dts = packet.dts,
      .duration = packet.duration,
      .position = packet.pos,
      .side_data = side_data->data(),
      .side_data_count = side_data->size(),
  };
}

}  // namespace bulkhead::libav_format
