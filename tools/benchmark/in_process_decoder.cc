// SPDX-License-Identifier: Apache-2.0
#include "tools/benchmark/in_process_decoder.h"

#include <fmt/format.h>

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>
#include <libswscale/swscale.h>
}

namespace bulkhead::benchmark {
namespace {

constexpr size_t kAlignment = 64;

Status Failed(std::string_view what, int error = AVERROR(ENOMEM)) {
  char text[AV_ERROR_MAX_STRING_SIZE] = {};
  av_strerror(error, text, sizeof(text));
  return Status(Code::kBadInput,
                fmt::format("libav in process: cannot {}: {}", what, text));
}

}  // namespace

void InProcessDecoder::Free::operator()(AVCodecContext* context) const {
  avcodec_free_context(&context);
}
void InProcessDecoder::Free::operator()(AVFormatContext* context) const {
  avformat_close_input(&context);
}
void InProcessDecoder::Free::operator()(AVFrame* frame) const {
  av_frame_free(&frame);
}
void InProcessDecoder::Free::operator()(AVPacket* packet) const {
  av_packet_free(&packet);
}
void InProcessDecoder::Free::operator()(SwsContext* context) const {
  sws_freeContext(context);
}

InProcessDecoder::~InProcessDecoder() = default;

Result<std::unique_ptr<InProcessDecoder>> InProcessDecoder::Open(
    const std::string& path, int threads, OutputFormat format) {
  std::unique_ptr<InProcessDecoder> decoder(new InProcessDecoder);
  decoder->output_ = format;
  if (Status status = decoder->Start(path, threads); !status.ok())
    return status;
  return decoder;
}

Status InProcessDecoder::Start(const std::string& path, int threads) {
  // At the default level, libdav1d prints its version for each decoder.
  av_log_set_level(AV_LOG_WARNING);
  AVFormatContext* format = nullptr;
  int error = avformat_open_input(&format, path.c_str(), nullptr, nullptr);
  if (error < 0) return Failed("open " + path, error);
  format_.reset(format);
  error = avformat_find_stream_info(format, nullptr);
  if (error < 0) return Failed("read the streams of " + path, error);

  const AVCodec* codec = nullptr;
  stream_ = av_find_best_stream(format, AVMEDIA_TYPE_VIDEO, -1, -1, &codec, 0);
  if (stream_ < 0) return Failed("find a video stream in " + path, stream_);
  codec_.reset(avcodec_alloc_context3(codec));
  packet_.reset(av_packet_alloc());
  frame_.reset(av_frame_alloc());
  if (!codec_ || !packet_ || !frame_) return Failed("allocate");
  const AVStream* stream = format->streams[stream_];
  error = avcodec_parameters_to_context(codec_.get(), stream->codecpar);
  if (error < 0) return Failed("set up the decoder", error);
  codec_->thread_count = threads;
  codec_->pkt_timebase = stream->time_base;
  error = avcodec_open2(codec_.get(), codec, nullptr);
  if (error < 0) return Failed("open the decoder", error);
  return Status();
}

Result<bool> InProcessDecoder::NextDecoded() {
  // Sends packets until the decoder returns a frame. After the last packet,
  // sends null, which drains the decoder.
  while (true) {
    int error = avcodec_receive_frame(codec_.get(), frame_.get());
    if (error == 0) return true;
    if (error == AVERROR_EOF) return false;
    if (error != AVERROR(EAGAIN)) return Failed("decode", error);
    if (draining_) return false;
    do {
      av_packet_unref(packet_.get());
      error = av_read_frame(format_.get(), packet_.get());
    } while (error >= 0 && packet_->stream_index != stream_);
    if (error < 0 && error != AVERROR_EOF) return Failed("read", error);
    draining_ = error == AVERROR_EOF;
    error =
        avcodec_send_packet(codec_.get(), draining_ ? nullptr : packet_.get());
    if (error < 0) return Failed("decode", error);
  }
}

Status InProcessDecoder::Convert() {
  if (!scaler_) {
    scaler_.reset(sws_alloc_context());
    if (!scaler_) return Failed("allocate");
    SwsContext* scaler = scaler_.get();
    av_opt_set_int(scaler, "srcw", frame_->width, 0);
    av_opt_set_int(scaler, "srch", frame_->height, 0);
    av_opt_set_int(scaler, "src_format", frame_->format, 0);
    av_opt_set_int(scaler, "dstw", frame_->width, 0);
    av_opt_set_int(scaler, "dsth", frame_->height, 0);
    av_opt_set_int(scaler, "dst_format", AV_PIX_FMT_RGB24, 0);
    av_opt_set_int(scaler, "sws_flags", SWS_BICUBIC, 0);
    const int error = sws_init_context(scaler, nullptr, nullptr);
    if (error < 0) return Failed("convert", error);

    picture_.width = static_cast<uint32_t>(frame_->width);
    picture_.height = static_cast<uint32_t>(frame_->height);
    // swscale may write whole vectors at the end of a row, so the memory has
    // one row more. It has kAlignment more bytes to align the start.
    const size_t row = size_t{3} * ((picture_.width + 15) / 16 * 16);
    picture_.stride =
        static_cast<uint32_t>((row + kAlignment - 1) / kAlignment * kAlignment);
    memory_.resize(size_t{picture_.stride} * (picture_.height + 1) +
                   kAlignment);
    void* start = memory_.data();
    size_t space = memory_.size();
    pixels_ = static_cast<std::byte*>(
        std::align(kAlignment, space - kAlignment, start, space));
    picture_.pixels = pixels_;
  }
  uint8_t* target[] = {reinterpret_cast<uint8_t*>(pixels_)};
  const int stride[] = {static_cast<int>(picture_.stride)};
  const int rows = sws_scale(scaler_.get(), frame_->data, frame_->linesize, 0,
                             frame_->height, target, stride);
  if (rows != frame_->height) return Failed("convert", rows);
  return Status();
}

Status InProcessDecoder::ShowPlanes() {
  const auto* format =
      av_pix_fmt_desc_get(static_cast<AVPixelFormat>(frame_->format));
  if (format == nullptr || (format->flags & AV_PIX_FMT_FLAG_PLANAR) == 0 ||
      format->comp[0].depth != 8) {
    return Failed("show planes that are not of 8 bits", AVERROR(ENOSYS));
  }
  picture_.width = static_cast<uint32_t>(frame_->width);
  picture_.height = static_cast<uint32_t>(frame_->height);
  picture_.planes.clear();
  for (int i = 0; i < format->nb_components; ++i) {
    const bool chroma = i == 1 || i == 2;
    picture_.planes.push_back(
        {.data = reinterpret_cast<const std::byte*>(frame_->data[i]),
         .stride = static_cast<uint32_t>(frame_->linesize[i]),
         .width = static_cast<uint32_t>(
             AV_CEIL_RSHIFT(frame_->width, chroma ? format->log2_chroma_w : 0)),
         .height = static_cast<uint32_t>(AV_CEIL_RSHIFT(
             frame_->height, chroma ? format->log2_chroma_h : 0)),
         .samples = 1});
  }
  return Status();
}

Status InProcessDecoder::Deliver() {
  Status status = output_ == OutputFormat::kNative ? ShowPlanes() : Convert();
  picture_.pts = frame_->pts;
  ++picture_.index;
  return status;
}

Result<bool> InProcessDecoder::Next() {
  Result<bool> decoded = NextDecoded();
  if (!decoded || !*decoded) return decoded;
  if (Status status = Deliver(); !status.ok()) return status;
  return true;
}

Result<uint64_t> InProcessDecoder::ReadAllPackets() {
  uint64_t packets = 0;
  for (;;) {
    av_packet_unref(packet_.get());
    const int error = av_read_frame(format_.get(), packet_.get());
    if (error == AVERROR_EOF) break;
    if (error < 0) return Failed("read", error);
    packets += packet_->stream_index == stream_ ? 1 : 0;
  }
  const int error =
      av_seek_frame(format_.get(), stream_, INT64_MIN, AVSEEK_FLAG_BACKWARD);
  if (error < 0) return Failed("seek", error);
  return packets;
}

Status InProcessDecoder::DecodeAt(int64_t pts) {
  const int error =
      av_seek_frame(format_.get(), stream_, pts, AVSEEK_FLAG_BACKWARD);
  if (error < 0) return Failed("seek", error);
  avcodec_flush_buffers(codec_.get());
  draining_ = false;
  while (true) {
    Result<bool> decoded = NextDecoded();
    if (!decoded) return decoded.error();
    if (!*decoded) return Failed("find the frame", AVERROR_EOF);
    if (frame_->best_effort_timestamp >= pts) return Deliver();
  }
}

}  // namespace bulkhead::benchmark
