// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavutil/frame.h>
}

namespace bulkhead::libav_codec {

// Frees objects of libav. The types below own such objects.
struct FreeLibavObject {
  void operator()(AVCodecContext* context) const {
    avcodec_free_context(&context);
  }
  void operator()(AVCodecParameters* parameters) const {
    avcodec_parameters_free(&parameters);
  }
  void operator()(AVFrame* frame) const { av_frame_free(&frame); }
  void operator()(AVPacket* packet) const { av_packet_free(&packet); }
};

using CodecContextPtr = std::unique_ptr<AVCodecContext, FreeLibavObject>;
using CodecParametersPtr = std::unique_ptr<AVCodecParameters, FreeLibavObject>;
using FramePtr = std::unique_ptr<AVFrame, FreeLibavObject>;
using PacketPtr = std::unique_ptr<AVPacket, FreeLibavObject>;

}  // namespace bulkhead::libav_codec
