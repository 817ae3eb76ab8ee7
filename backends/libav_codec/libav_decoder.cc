// SPDX-License-Identifier: Apache-2.0
#include "backends/libav_codec/libav_decoder.h"

#include <algorithm>
#include <cstring>
#include <limits>

extern "C" {
#include <libavutil/pixdesc.h>
}

#include "backends/libav_codec/decoder_gaps.h"
#include "backends/libav_codec/decoder_options.h"
#include "backends/libav_codec/translate.h"

namespace bulkhead::libav_codec {
namespace {

Expected<const AVCodec*> FindDecoder(const char* name, uint32_t stream_kind) {
  if (name == nullptr) {
    return Fail(BULKHEAD_UNSUPPORTED, "the stream's codec has no name");
  }
  const AVCodecDescriptor* codec = avcodec_descriptor_get_by_name(name);
  if (codec == nullptr) {
    return Fail(BULKHEAD_UNSUPPORTED, "libavcodec knows no codec " +
                                          Quoted(name) +
                                          "; choose another backend or file");
  }
  const bool audio = stream_kind == BULKHEAD_STREAM_AUDIO;
  if (codec->type != (audio ? AVMEDIA_TYPE_AUDIO : AVMEDIA_TYPE_VIDEO)) {
    const std::string kind = audio ? "an audio" : "a video";
    return Fail(BULKHEAD_UNSUPPORTED, Quoted(name) + " is not " + kind +
                                          " codec; choose " + kind + " stream");
  }
  const AVCodec* decoder = avcodec_find_decoder(codec->id);
  if (decoder == nullptr) {
    return Fail(BULKHEAD_UNSUPPORTED,
                "this libavcodec was built without a decoder for " +
                    Quoted(name) + "; choose another backend or file");
  }
  return decoder;
}

// Returns the codec context for which a line is logged, or null. If a nested
// object logs, the codec context is one of its parents.
AVCodecContext* OwningContext(void* object) {
  while (object != nullptr) {
    const AVClass* type = *static_cast<AVClass**>(object);
    if (type == nullptr) return nullptr;
    if (type == avcodec_get_class()) {
      return static_cast<AVCodecContext*>(object);
    }
    if (type->parent_log_context_offset == 0) return nullptr;
    object = *reinterpret_cast<void**>(static_cast<char*>(object) +
                                       type->parent_log_context_offset);
  }
  return nullptr;
}

// Clears the memory of a new picture, unless it is memory of a device.
void Clear(const AVFrame& frame) {
  const AVPixFmtDescriptor* const format =
      av_pix_fmt_desc_get(static_cast<AVPixelFormat>(frame.format));
  if (format == nullptr || (format->flags & AV_PIX_FMT_FLAG_HWACCEL) != 0) {
    return;
  }
  for (const AVBufferRef* const buffer : frame.buf) {
    if (buffer != nullptr) std::memset(buffer->data, 0, buffer->size);
  }
}

}  // namespace

Expected<std::unique_ptr<LibavDecoder>> LibavDecoder::Open(
    const bulkhead_open_parameters& parameters,
    const bulkhead_runtime* runtime) {
  const bulkhead_codec_parameters& codec = *parameters.codec;
  const auto found = FindDecoder(codec.codec, codec.stream_kind);
  if (!found) return tl::unexpected(found.error());
  auto translated = ToCodecParameters(codec, **found);
  if (!translated) return tl::unexpected(translated.error());

  std::unique_ptr<LibavDecoder> decoder(new LibavDecoder);
  decoder->codec_ = codec.codec;
  decoder->log_ = std::make_unique<PictureLog>((*found)->id);
  if (runtime != nullptr) decoder->buffers_ = RuntimeBuffers::Create(*runtime);
  decoder->stream_side_data_.reset(av_packet_alloc());
  decoder->context_.reset(avcodec_alloc_context3(*found));
  AVCodecContext* context = decoder->context_.get();
  if (context == nullptr || !decoder->stream_side_data_ ||
      avcodec_parameters_to_context(context, translated->get()) < 0 ||
      !AddStreamSideData(codec.side_data, codec.side_data_count,
                         decoder->stream_side_data_.get())) {
    return Fail(BULKHEAD_OUT_OF_MEMORY, "no memory for a decoder");
  }
  context->pkt_timebase = ToRational(codec.time_base);
  context->framerate = ToRational(codec.frame_rate);
  if (context->ch_layout.order == AV_CHANNEL_ORDER_UNSPEC) {
    // The ffmpeg program guesses a missing channel layout in the same way.
    av_channel_layout_default(&context->ch_layout,
                              context->ch_layout.nb_channels);
  }
  context->thread_count = static_cast<int>(
      std::min<uint32_t>(parameters.threads, std::numeric_limits<int>::max()));
  if (parameters.ignore_errors != 0) {
    context->err_recognition |= AV_EF_IGNORE_ERR;
  }
  context->err_recognition |= ChecksumsOf(context->codec_id);
  context->opaque = decoder.get();
  context->get_buffer2 = GetBuffer;
#if LIBAVCODEC_VERSION_MAJOR < 60
  // GetBuffer is thread-safe. Without this, libavcodec's frame threads would
  // wait for the thread that calls Send to run the callback.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  context->thread_safe_callbacks = 1;
#pragma GCC diagnostic pop
#endif
  if (const auto set = SetOptions(parameters, context); !set) {
    return tl::unexpected(set.error());
  }
  decoder->max_frame_pixels_ = parameters.max_frame_pixels;
  if (parameters.max_frame_pixels > 0) {
    // Set after the options, so that no option can raise the limit.
    context->max_pixels = static_cast<int64_t>(
        std::min<uint64_t>(parameters.max_frame_pixels,
                           static_cast<uint64_t>(context->max_pixels)));
  }
  av_log_set_callback(ReadLog);
  if (const int error = avcodec_open2(context, *found, nullptr); error < 0) {
    Failure failure = decoder->FailureOf(error, "open the decoder");
    if (error == AVERROR_PATCHWELCOME || error == AVERROR_EXPERIMENTAL ||
        error == AVERROR(ENOSYS)) {
      failure.result = BULKHEAD_UNSUPPORTED;
    }
    // EAGAIN comes from pthread_create(): no thread could be started.
    if (error == AVERROR(EAGAIN)) failure.result = BULKHEAD_OUT_OF_MEMORY;
    return tl::unexpected(std::move(failure));
  }
  if ((context->active_thread_type & FF_THREAD_FRAME) != 0) {
    decoder->log_->SetFrameThreads(context->thread_count);
  }
  return decoder;
}

bulkhead_result LibavDecoder::Send(const bulkhead_packet* packet) {
  if (packet == nullptr) return SendTranslated(nullptr);
  const auto translated = ToPacket(*packet);
  if (translated) return SendTranslated(translated->get());
  last_error_ = translated.error().sentence;
  return translated.error().result;
}

bulkhead_result LibavDecoder::SendTranslated(AVPacket* packet) {
  if (packet == nullptr) {
    const int error = avcodec_send_packet(context_.get(), nullptr);
    ended_ = ended_ || error == 0;
    // A second end changes nothing [send-4]: libavcodec returns AVERROR_EOF.
    return error == AVERROR_EOF ? BULKHEAD_OK
                                : Report(error, "drain the decoder");
  }
  if (ended_) {
    last_error_ = "the end of the stream was sent; flush before sending more";
    return BULKHEAD_FAILED;
  }
  // Skips an empty packet, as FFmpeg does; libavcodec would take it for the end
  // of the stream.
  if (packet->size == 0) return BULKHEAD_OK;
  if (packet->size < LeastBytes(*context_)) {
    last_error_ = "a raw picture has " + std::to_string(packet->size) +
                  " bytes, and needs " + std::to_string(LeastBytes(*context_));
    return BULKHEAD_BAD_INPUT;
  }
  if (stream_side_data_ && !AddStreamSideData(*stream_side_data_, packet)) {
    last_error_ = "no memory for the stream's side data";
    return BULKHEAD_OUT_OF_MEMORY;
  }
  animated_ = context_->codec_id == AV_CODEC_ID_WEBP && IsAnimated(*packet);
  context_->reordered_opaque =
      log_->NextPacket((packet->flags & AV_PKT_FLAG_KEY) != 0, packet->pts);
  const int error = avcodec_send_packet(context_.get(), packet);
  if (error == AVERROR(EAGAIN)) {
    // The packet was not taken, so the context gets the number of the previous
    // packet again.
    context_->reordered_opaque = log_->NotTaken();
  } else {
    stream_side_data_.reset();
  }
  return Report(error, "decode a packet");
}

bulkhead_result LibavDecoder::Receive(AVFrame* frame) {
  int error;
  // The decoder of ADX ends a stream with a frame of no samples.
  do {
    error = avcodec_receive_frame(context_.get(), frame);
  } while (error == 0 && frame->nb_samples == 0 &&
           context_->codec_type == AVMEDIA_TYPE_AUDIO);
  if (error == 0) picture_too_large_ = false;
  const bulkhead_result result = Report(error, "decode a frame");
  if (result != BULKHEAD_OK) av_frame_unref(frame);
  return result;
}

void LibavDecoder::Describe(const AVFrame& frame, bulkhead_frame* to) {
  DescribeFrame(frame, to);
  if (IsAudio(frame)) return;
  if (log_->IsDamaged(frame.reordered_opaque, to->pts)) to->damaged = 1;
  to->met_error = log_->TakeError(frame.reordered_opaque);
}

void LibavDecoder::Flush() {
  avcodec_flush_buffers(context_.get());
  log_->Flush();
  ended_ = false;
  picture_too_large_ = false;
}

void* LibavDecoder::HandleOf(const AVFrame& frame) const {
  return buffers_ ? buffers_->HandleOf(frame) : nullptr;
}

Failure LibavDecoder::FailureOf(int av_error, const char* action) {
  if (picture_too_large_.exchange(false)) {
    return {
        BULKHEAD_OUT_OF_MEMORY,
        "a picture of the " + codec_ + " stream is larger than the limit of " +
            std::to_string(max_frame_pixels_) +
            " pixels; raise the limit frame_pixels (--limit frame-pixels=N)"};
  }
  if (animated_) {
    return {ResultOf(av_error),
            "the picture is animated, and libavcodec has no decoder for "
            "animated WebP; convert the file to another format"};
  }
  return {ResultOf(av_error), "libavcodec could not " + std::string(action) +
                                  " of the " + codec_ +
                                  " stream: " + TextOf(av_error)};
}

bulkhead_result LibavDecoder::Report(int av_error, const char* action) {
  const bulkhead_result refusal =
      buffers_ ? buffers_->TakeRefusal() : BULKHEAD_OK;
  if (refusal != BULKHEAD_OK) {
    last_error_ = "the runtime has no buffer for a picture";
    return refusal;
  }
  if (av_error >= 0) return BULKHEAD_OK;
  if (av_error == AVERROR(EAGAIN)) return BULKHEAD_AGAIN;
  if (av_error == AVERROR_EOF) return BULKHEAD_END_OF_STREAM;
  Failure failure = FailureOf(av_error, action);
  last_error_ = std::move(failure.sentence);
  return failure.result;
}

int LibavDecoder::GetBuffer(AVCodecContext* context, AVFrame* frame,
                            int flags) {
  if (context->codec_type != AVMEDIA_TYPE_VIDEO) {
    return avcodec_default_get_buffer2(context, frame, flags);
  }
  const auto* decoder = static_cast<const LibavDecoder*>(context->opaque);
  decoder->log_->Begins(context->reordered_opaque);
  const int result = decoder->buffers_
                         ? decoder->buffers_->Allocate(context, frame, flags)
                         : avcodec_default_get_buffer2(context, frame, flags);
  if (result >= 0 && LeavesPartsUnwritten(context->codec_id)) Clear(*frame);
  return result;
}

// Passes lines to the PictureLog, and notices pictures larger than max_pixels.
// libavcodec returns the same error for such pictures as for damage; only its
// log distinguishes them. Prints nothing, since a hostile stream could fill the
// log.
void LibavDecoder::ReadLog(void* object, int level, const char* format,
                           va_list values) {
  const AVCodecContext* context = OwningContext(object);
  if (context == nullptr || context->get_buffer2 != GetBuffer) return;
  // Audio is left out: AAC's lines about damaged bands also say "exceeds
  // limit".
  if (context->codec_type != AVMEDIA_TYPE_VIDEO) return;
  auto* const decoder = static_cast<LibavDecoder*>(context->opaque);
  const int severity = level & 0xff;  // the rest is a colour
  decoder->log_->Line(context->reordered_opaque, severity, format);
  const bool beyond_own = std::strstr(format, "Picture size %ux%u is invalid");
  const bool beyond =
      beyond_own ||
      std::strstr(format, "exceeds specified max pixel count") != nullptr ||
      std::strstr(format, "exceeds limit") != nullptr;
  if (!beyond) return;
  if (beyond_own) {
    // libavutil logs this line for all sizes that it refuses, such as empty
    // ones. Only sizes above the limit of the application count.
    va_list copy;
    va_copy(copy, values);
    const uint64_t width = va_arg(copy, unsigned);
    const uint64_t height = va_arg(copy, unsigned);
    va_end(copy);
    if (decoder->max_frame_pixels_ == 0 ||
        width * height <= decoder->max_frame_pixels_) {
      return;
    }
  }
  decoder->picture_too_large_ = true;
}

}  // namespace bulkhead::libav_codec
