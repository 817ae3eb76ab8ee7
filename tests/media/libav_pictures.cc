// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>

#include "tests/media/changing_clips.h"
#include "tests/support/frame_hash.h"

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/imgutils.h>
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>
#include <libswscale/swscale.h>
}

namespace bulkhead::tests {
namespace {

template <auto Function>
struct FreeBy {
  template <typename T>
  void operator()(T* object) const {
    Function(&object);
  }
};
using Input = std::unique_ptr<AVFormatContext, FreeBy<avformat_close_input>>;
using Decoder = std::unique_ptr<AVCodecContext, FreeBy<avcodec_free_context>>;
using Packet = std::unique_ptr<AVPacket, FreeBy<av_packet_free>>;
using DecodedFrame = std::unique_ptr<AVFrame, FreeBy<av_frame_free>>;
struct FreeScaler {
  void operator()(SwsContext* context) const { sws_freeContext(context); }
};
using Scaler = std::unique_ptr<SwsContext, FreeScaler>;

std::string HashOf(const std::vector<uint8_t>& bytes) {
  return tests::HashOf(std::as_bytes(std::span(bytes)));
}

std::string NativeHash(const AVFrame& frame) {
  const auto format = static_cast<AVPixelFormat>(frame.format);
  std::vector<uint8_t> packed(static_cast<size_t>(
      av_image_get_buffer_size(format, frame.width, frame.height, 1)));
  av_image_copy_to_buffer(packed.data(), static_cast<int>(packed.size()),
                          frame.data, frame.linesize, format, frame.width,
                          frame.height, 1);
  return HashOf(packed);
}

std::string RgbHash(const AVFrame& frame, AVPixelFormat format) {
  const Scaler scaler(sws_alloc_context());
  SwsContext* const context = scaler.get();
  for (const auto& [name, value] :
       {std::pair<const char*, int>{"srcw", frame.width},
        {"srch", frame.height},
        {"src_format", frame.format},
        {"dstw", frame.width},
        {"dsth", frame.height},
        {"dst_format", format},
        {"sws_flags", SWS_BICUBIC}}) {
    av_opt_set_int(context, name, value, 0);
  }
  const bool ranged = frame.color_range != AVCOL_RANGE_UNSPECIFIED;
  const int full = frame.color_range == AVCOL_RANGE_JPEG;
  if (ranged) av_opt_set_int(context, "src_range", full, 0);
  if (frame.format == AV_PIX_FMT_YUV420P) {
    av_opt_set_int(context, "src_v_chr_pos", 128, 0);
  }
  if (sws_init_context(context, nullptr, nullptr) < 0) return "no scaler";
  int* table;
  int source_range, target_range, brightness, contrast, saturation;
  sws_getColorspaceDetails(context, &table, &source_range, &table,
                           &target_range, &brightness, &contrast, &saturation);
  if (ranged) source_range = full;
  const int space = frame.colorspace == AVCOL_SPC_UNSPECIFIED
                        ? AVCOL_SPC_BT470BG
                        : frame.colorspace;
  const int* const matrix = sws_getCoefficients(space);
  sws_setColorspaceDetails(context, matrix, source_range, matrix, target_range,
                           brightness, contrast, saturation);
  // swscale leaves the last pixels of packed rows unconverted.
  const int pixel = format == AV_PIX_FMT_RGB48 ? 6 : 3;
  const int row = pixel * frame.width;
  const int stride = (pixel * ((frame.width + 15) & ~15) + 63) & ~63;
  std::vector<uint8_t> padded(
      static_cast<size_t>(stride) * static_cast<size_t>(frame.height) + 64);
  uint8_t* const data[] = {padded.data(), nullptr, nullptr, nullptr};
  const int strides[] = {stride, 0, 0, 0};
  sws_scale(context, frame.data, frame.linesize, 0, frame.height, data,
            strides);
  std::vector<uint8_t> packed;
  for (int y = 0; y < frame.height; ++y) {
    const auto begin = padded.begin() + static_cast<ptrdiff_t>(y) * stride;
    packed.insert(packed.end(), begin, begin + row);
  }
  return HashOf(packed);
}

LibavPicture PictureOf(const AVFrame& frame) {
  return {.width = static_cast<uint32_t>(frame.width),
          .height = static_cast<uint32_t>(frame.height),
          .pixel_format =
              av_get_pix_fmt_name(static_cast<AVPixelFormat>(frame.format)),
          .native_hash = NativeHash(frame),
          .rgb_hash = RgbHash(frame, AV_PIX_FMT_RGB24),
          .rgb48_hash = RgbHash(frame, AV_PIX_FMT_RGB48)};
}

Status Failed(const char* call) {
  return Status(Code::kInternal, std::string(call) + " failed");
}

}  // namespace

Result<std::vector<LibavPicture>> DecodeWithLibav(const std::string& path) {
  av_log_set_level(AV_LOG_ERROR);
  AVFormatContext* opened = nullptr;
  if (avformat_open_input(&opened, path.c_str(), nullptr, nullptr) < 0) {
    return Failed("avformat_open_input");
  }
  const Input input(opened);
  if (avformat_find_stream_info(opened, nullptr) < 0) {
    return Failed("avformat_find_stream_info");
  }
  const AVStream& stream = *opened->streams[0];
  const AVCodec* const codec = avcodec_find_decoder(stream.codecpar->codec_id);
  const Decoder decoder(avcodec_alloc_context3(codec));
  if (avcodec_parameters_to_context(decoder.get(), stream.codecpar) < 0) {
    return Failed("avcodec_parameters_to_context");
  }
  decoder->thread_count = 1;
  if (avcodec_open2(decoder.get(), codec, nullptr) < 0) {
    return Failed("avcodec_open2");
  }
  const Packet packet(av_packet_alloc());
  const DecodedFrame frame(av_frame_alloc());
  std::vector<LibavPicture> pictures;
  for (bool more = true; more;) {
    more = av_read_frame(opened, packet.get()) >= 0;
    if (more && packet->stream_index != 0) continue;
    if (avcodec_send_packet(decoder.get(), more ? packet.get() : nullptr) < 0) {
      return Failed("avcodec_send_packet");
    }
    av_packet_unref(packet.get());
    while (avcodec_receive_frame(decoder.get(), frame.get()) >= 0) {
      pictures.push_back(PictureOf(*frame));
    }
  }
  return pictures;
}

}  // namespace bulkhead::tests
