// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/demux/stream_facts.h"

#include <algorithm>

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/pixdesc.h>
}

#include "backends/worker/media/demux/display.h"

namespace bulkhead::worker::demux {
namespace {

bulkhead_rational FromAv(AVRational value) { return {value.num, value.den}; }

}  // namespace

StreamFacts StreamFactsOf(const AVFormatContext& format,
                          const AVStream& stream) {
  StreamFacts facts;
  const AVCodecParameters& codec = *stream.codecpar;
  facts.stream_index = stream.index;
  facts.stream_id = stream.id;
  facts.stream_count = format.nb_streams;
  facts.codec = avcodec_get_name(codec.codec_id);
  const char* pixel_format =
      codec.codec_type == AVMEDIA_TYPE_VIDEO
          ? av_get_pix_fmt_name(static_cast<AVPixelFormat>(codec.format))
          : nullptr;
  if (pixel_format != nullptr) facts.pixel_format = pixel_format;
  facts.container = format.iformat->name;
  const Display display = DisplayOf(stream);
  facts.orientation = display.orientation;
  facts.width = display.width;
  facts.height = display.height;
  facts.sample_aspect_ratio = display.sample_aspect_ratio;
  facts.time_base = FromAv(stream.time_base);
  facts.average_frame_rate = FromAv(stream.avg_frame_rate);
  facts.base_frame_rate = FromAv(stream.r_frame_rate);
  facts.frame_count =
      static_cast<uint64_t>(std::max<int64_t>(stream.nb_frames, 0));
  facts.duration = stream.duration;
  facts.container_microseconds = format.duration;
  facts.is_duration_estimated =
      format.duration_estimation_method == AVFMT_DURATION_FROM_BITRATE;
  facts.start = stream.start_time;
  facts.bit_rate = codec.bit_rate > 0 ? codec.bit_rate : format.bit_rate;
  facts.color_primaries = codec.color_primaries;
  facts.color_transfer = codec.color_trc;
  facts.color_space = codec.color_space;
  facts.color_range = codec.color_range;
  facts.chroma_location = codec.chroma_location;
  facts.video_delay = codec.video_delay;
  return facts;
}

}  // namespace bulkhead::worker::demux
