// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/zygote/codec_tables.h"

#include <array>

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavutil/channel_layout.h>
}

namespace bulkhead::worker::zygote {
namespace {

// The most common codecs first. The tables of other codecs take less than 0.1
// ms each.
constexpr std::array kCodecs = {
    AV_CODEC_ID_H264, AV_CODEC_ID_AAC, AV_CODEC_ID_HEVC,  AV_CODEC_ID_MP3,
    AV_CODEC_ID_AV1,  AV_CODEC_ID_VP9, AV_CODEC_ID_MPEG4, AV_CODEC_ID_OPUS,
};

}  // namespace

bool CodecTables::PrepareNext() {
  if (next_ == kCodecs.size()) return false;
  const AVCodec* const codec = avcodec_find_decoder(kCodecs[next_++]);
  AVCodecContext* context = avcodec_alloc_context3(codec);
  if (context != nullptr) {
    // Only a process with a single thread may be cloned.
    context->thread_count = 1;
    // Some audio decoders open only with a rate and channels.
    context->sample_rate = 48'000;
    av_channel_layout_default(&context->ch_layout, 2);
    avcodec_open2(context, codec, nullptr);
    avcodec_free_context(&context);
  }
  return true;
}

}  // namespace bulkhead::worker::zygote
