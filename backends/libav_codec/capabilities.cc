// SPDX-License-Identifier: Apache-2.0
#include "backends/libav_codec/capabilities.h"

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavutil/pixdesc.h>
#include <libavutil/samplefmt.h>
}

namespace bulkhead::libav_codec {
namespace {

std::vector<const char*> FormatsOf(const AVCodec& decoder) {
  std::vector<const char*> names;
  const AVPixelFormat* pixel = decoder.pix_fmts;
  for (; pixel != nullptr && *pixel != AV_PIX_FMT_NONE; ++pixel) {
    // Frames are in host memory only, so formats of devices are left out.
    if ((av_pix_fmt_desc_get(*pixel)->flags & AV_PIX_FMT_FLAG_HWACCEL) == 0) {
      names.push_back(av_get_pix_fmt_name(*pixel));
    }
  }
  const AVSampleFormat* sample = decoder.sample_fmts;
  for (; sample != nullptr && *sample != AV_SAMPLE_FMT_NONE; ++sample) {
    names.push_back(av_get_sample_fmt_name(*sample));
  }
  return names;
}

}  // namespace

Capabilities::Capabilities() {
  const AVCodecDescriptor* codec = nullptr;
  while ((codec = avcodec_descriptor_next(codec)) != nullptr) {
    const bool audio = codec->type == AVMEDIA_TYPE_AUDIO;
    if (!audio && codec->type != AVMEDIA_TYPE_VIDEO) continue;
    const AVCodec* decoder = avcodec_find_decoder(codec->id);
    // libavcodec opens experimental decoders only if an option allows that.
    if (decoder == nullptr ||
        (decoder->capabilities & AV_CODEC_CAP_EXPERIMENTAL) != 0) {
      continue;
    }
    const auto& formats = formats_.emplace_back(FormatsOf(*decoder));
    streams_.push_back(
        {.size = sizeof(bulkhead_capability),
         .stream_kind = audio ? static_cast<uint32_t>(BULKHEAD_STREAM_AUDIO)
                              : static_cast<uint32_t>(BULKHEAD_STREAM_VIDEO),
         .codec = codec->name,
         .profile = BULKHEAD_ALL_PROFILES,
         .max_width = 0,
         .max_height = 0,
         .formats = formats.data(),
         .format_count = formats.size()});
  }
}

void Capabilities::Describe(bulkhead_device* device) const {
  device->capabilities = streams_.data();
  device->capability_count = streams_.size();
  device->outputs =
      BULKHEAD_OUTPUT_OWN_MEMORY | BULKHEAD_OUTPUT_RUNTIME_BUFFERS;
}

}  // namespace bulkhead::libav_codec
