/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A backend as a vendor may write it: plain C, the SDK's header, and libavcodec
 * of the system. It decodes on one device, "cvendor", into memory of its own.
 */

#include "tests/vendors/c_vendor/c_vendor.h"

#include <libavcodec/avcodec.h>
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct bulkhead_decoder {
  AVCodecContext* context;
  AVPacket* packet;
  uint64_t max_frame_pixels;
  atomic_int too_large; /* set by threads of libavcodec */
  int ended;
  char error[256];
};

/* Of the thread whose open failed: others may open at the same time. */
static _Thread_local char open_error[256];

/* What a sender of another release left out is zero. */
static void take(void* to, size_t capacity, const void* from, uint32_t size) {
  memset(to, 0, capacity);
  memcpy(to, from, size < capacity ? size : capacity);
}

static bulkhead_result refuse(bulkhead_result result, const char* what,
                              const char* name) {
  snprintf(open_error, sizeof(open_error), "%s \"%s\"", what, name ? name : "");
  return result;
}

static bulkhead_result report(bulkhead_decoder* self, const char* action,
                              int error) {
  char text[AV_ERROR_MAX_STRING_SIZE] = "";
  if (error >= 0) return BULKHEAD_OK;
  if (error == AVERROR(EAGAIN)) return BULKHEAD_AGAIN;
  if (error == AVERROR_EOF) return BULKHEAD_END_OF_STREAM;
  if (atomic_exchange(&self->too_large, 0)) {
    snprintf(self->error, sizeof(self->error),
             "a picture is larger than %llu pixels; raise the limit",
             (unsigned long long)self->max_frame_pixels);
    return BULKHEAD_OUT_OF_MEMORY;
  }
  av_strerror(error, text, sizeof(text));
  snprintf(self->error, sizeof(self->error), "libavcodec cannot %s: %s", action,
           text);
  if (error == AVERROR(ENOMEM)) return BULKHEAD_OUT_OF_MEMORY;
  if (error == AVERROR_BUG || error == AVERROR_BUG2) return BULKHEAD_FAILED;
  return BULKHEAD_BAD_INPUT;
}

static int is_too_large(const bulkhead_decoder* self, int width, int height) {
  return self->max_frame_pixels > 0 &&
         (uint64_t)width * (uint64_t)height > self->max_frame_pixels;
}

static int get_buffer(AVCodecContext* context, AVFrame* frame, int flags) {
  bulkhead_decoder* self = context->opaque;
  if (is_too_large(self, context->width, context->height)) {
    atomic_store(&self->too_large, 1);
    return AVERROR(EINVAL);
  }
  return avcodec_default_get_buffer2(context, frame, flags);
}

static bulkhead_result enumerate_devices(const bulkhead_runtime* runtime,
                                         void (*emit)(void* emit_context,
                                                      const bulkhead_device*),
                                         void* emit_context) {
  const bulkhead_device device = {.size = sizeof(device),
                                  .name = "cvendor",
                                  .description = "libavcodec, called from C"};
  (void)runtime;
  emit(emit_context, &device);
  return BULKHEAD_OK;
}

static void close_decoder(bulkhead_decoder* self) {
  avcodec_free_context(&self->context);
  av_packet_free(&self->packet);
  free(self);
}

static AVRational ratio(bulkhead_rational from) {
  return from.denominator ? av_make_q(from.numerator, from.denominator)
                          : av_make_q(0, 1);
}

static int describe_stream(AVCodecContext* to,
                           const bulkhead_codec_parameters* from) {
  if (from->extradata_bytes > INT32_MAX - AV_INPUT_BUFFER_PADDING_SIZE) {
    return 0;
  }
  if (from->extradata_bytes > 0) {
    to->extradata =
        av_mallocz(from->extradata_bytes + AV_INPUT_BUFFER_PADDING_SIZE);
    if (!to->extradata) return 0;
    memcpy(to->extradata, from->extradata, from->extradata_bytes);
    to->extradata_size = (int)from->extradata_bytes;
  }
  to->codec_tag = from->codec_tag;
  to->width = to->coded_width = from->width;
  to->height = to->coded_height = from->height;
  to->pix_fmt =
      from->pixel_format ? av_get_pix_fmt(from->pixel_format) : AV_PIX_FMT_NONE;
  to->profile = from->profile;
  to->level = from->level;
  to->bit_rate = from->bit_rate;
  to->bits_per_coded_sample = from->bits_per_coded_sample;
  to->bits_per_raw_sample = from->bits_per_raw_sample;
  to->field_order = (enum AVFieldOrder)from->field_order;
  to->has_b_frames = from->video_delay;
  to->chroma_sample_location = (enum AVChromaLocation)from->chroma_location;
  to->color_range = (enum AVColorRange)from->color_range;
  to->color_primaries = (enum AVColorPrimaries)from->color_primaries;
  to->color_trc = (enum AVColorTransferCharacteristic)from->color_transfer;
  to->colorspace = (enum AVColorSpace)from->color_space;
  to->sample_aspect_ratio = ratio(from->sample_aspect_ratio);
  to->pkt_timebase = ratio(from->time_base);
  to->framerate = ratio(from->frame_rate);
  return 1;
}

static bulkhead_result open_decoder(const bulkhead_open_parameters* parameters,
                                    const bulkhead_runtime* runtime,
                                    bulkhead_decoder** decoder) {
  bulkhead_open_parameters asked;
  bulkhead_codec_parameters stream;
  bulkhead_decoder* self;
  const AVCodecDescriptor* descriptor;
  const AVCodec* codec;
  int error;
  (void)runtime;
  take(&asked, sizeof(asked), parameters, parameters->size);
  take(&stream, sizeof(stream), asked.codec, asked.codec->size);
  if (asked.device != 0) {
    return refuse(BULKHEAD_UNSUPPORTED, "there is one device,", "cvendor:0");
  }
  descriptor = stream.codec ? avcodec_descriptor_get_by_name(stream.codec) : 0;
  codec = descriptor ? avcodec_find_decoder(descriptor->id) : NULL;
  if (!codec || codec->type != AVMEDIA_TYPE_VIDEO) {
    return refuse(BULKHEAD_UNSUPPORTED, "libavcodec does not decode",
                  stream.codec);
  }
  self = calloc(1, sizeof(*self));
  if (!self) return refuse(BULKHEAD_OUT_OF_MEMORY, "no memory for", "decoder");
  self->max_frame_pixels = asked.max_frame_pixels;
  self->packet = av_packet_alloc();
  self->context = avcodec_alloc_context3(codec);
  if (!self->packet || !self->context ||
      !describe_stream(self->context, &stream)) {
    close_decoder(self);
    return refuse(BULKHEAD_OUT_OF_MEMORY, "no memory for", stream.codec);
  }
  if (is_too_large(self, stream.width, stream.height)) {
    close_decoder(self);
    return refuse(BULKHEAD_OUT_OF_MEMORY,
                  "larger than the limit:", stream.codec);
  }
  self->context->opaque = self;
  self->context->get_buffer2 = get_buffer;
  self->context->thread_count = asked.threads > 64 ? 64 : (int)asked.threads;
  for (size_t i = 0; i < asked.option_count; ++i) {
    const bulkhead_option* option = &asked.options[i];
    if (av_opt_set(self->context, option->key, option->value,
                   AV_OPT_SEARCH_CHILDREN) < 0) {
      close_decoder(self);
      return refuse(BULKHEAD_UNSUPPORTED, "the decoder refuses the option",
                    option->key);
    }
  }
  error = avcodec_open2(self->context, codec, NULL);
  if (error < 0) {
    close_decoder(self);
    /* A thread that cannot be started, for want of memory, is EAGAIN. */
    return refuse(error == AVERROR(ENOMEM) || error == AVERROR(EAGAIN)
                      ? BULKHEAD_OUT_OF_MEMORY
                      : BULKHEAD_UNSUPPORTED,
                  "libavcodec cannot open", stream.codec);
  }
  *decoder = self;
  return BULKHEAD_OK;
}

static void add_side_data(const bulkhead_side_data* from, AVPacket* to) {
  for (int type = 0; type < AV_PKT_DATA_NB; ++type) {
    const char* name = av_packet_side_data_name(type);
    uint8_t* copy;
    if (!name || !from->kind || strcmp(name, from->kind) != 0) continue;
    copy = av_packet_new_side_data(to, type, from->bytes);
    if (copy && from->bytes > 0) memcpy(copy, from->data, from->bytes);
  }
}

static bulkhead_result send_packet(bulkhead_decoder* self,
                                   const bulkhead_packet* packet) {
  bulkhead_packet from;
  int error;
  if (!packet) {
    error = avcodec_send_packet(self->context, NULL);
    self->ended = self->ended || error == 0;
    return error == AVERROR_EOF ? BULKHEAD_OK : report(self, "drain", error);
  }
  if (self->ended) {
    snprintf(self->error, sizeof(self->error), "the stream has ended; flush");
    return BULKHEAD_FAILED;
  }
  take(&from, sizeof(from), packet, packet->size);
  if (from.bytes == 0) return BULKHEAD_OK;
  if (from.bytes > INT32_MAX - AV_INPUT_BUFFER_PADDING_SIZE ||
      av_new_packet(self->packet, (int)from.bytes) < 0) {
    return report(self, "hold a packet", AVERROR(ENOMEM));
  }
  memcpy(self->packet->data, from.data, from.bytes);
  self->packet->pts = from.pts;
  self->packet->dts = from.dts;
  self->packet->duration = from.duration;
  self->packet->pos = from.position;
  self->packet->flags =
      (from.flags & BULKHEAD_PACKET_KEYFRAME ? AV_PKT_FLAG_KEY : 0) |
      (from.flags & BULKHEAD_PACKET_CORRUPT ? AV_PKT_FLAG_CORRUPT : 0) |
      (from.flags & BULKHEAD_PACKET_DISCARD ? AV_PKT_FLAG_DISCARD : 0);
  for (size_t i = 0; i < from.side_data_count; ++i) {
    add_side_data(&from.side_data[i], self->packet);
  }
  error = avcodec_send_packet(self->context, self->packet);
  av_packet_unref(self->packet);
  return report(self, "decode a packet", error);
}

static bulkhead_result receive_frame(bulkhead_decoder* self,
                                     bulkhead_frame* frame) {
  const uint32_t room = frame->size;
  bulkhead_frame out = {.size = sizeof(out)};
  AVFrame* picture = av_frame_alloc();
  bulkhead_result result =
      picture ? report(self, "decode a picture",
                       avcodec_receive_frame(self->context, picture))
              : BULKHEAD_OUT_OF_MEMORY;
  if (result != BULKHEAD_OK) {
    av_frame_free(&picture);
    return result;
  }
  out.pixel_format = av_get_pix_fmt_name(picture->format);
  out.width = picture->width;
  out.height = picture->height;
  while (out.plane_count < BULKHEAD_MAX_PLANES &&
         picture->data[out.plane_count]) {
    out.data[out.plane_count] = picture->data[out.plane_count];
    out.stride[out.plane_count] = picture->linesize[out.plane_count];
    ++out.plane_count;
  }
  out.pts = picture->best_effort_timestamp;
  out.duration = picture->pkt_duration;
  out.keyframe = picture->key_frame;
  out.damaged = picture->decode_error_flags != 0 ||
                (picture->flags & AV_FRAME_FLAG_CORRUPT) != 0;
  out.met_error = out.damaged;
  out.interlaced = picture->interlaced_frame;
  out.top_field_first = picture->top_field_first;
  out.color_range = picture->color_range;
  out.color_primaries = picture->color_primaries;
  out.color_transfer = picture->color_trc;
  out.color_space = picture->colorspace;
  out.chroma_location = picture->chroma_location;
  out.sample_aspect_ratio.numerator = picture->sample_aspect_ratio.num;
  out.sample_aspect_ratio.denominator = picture->sample_aspect_ratio.den;
  out.private_data = picture;
  if (room < out.size) out.size = room;
  memcpy(frame, &out, out.size);
  return BULKHEAD_OK;
}

static void release_frame(bulkhead_decoder* self, bulkhead_frame* frame) {
  AVFrame* picture = frame->private_data;
  (void)self;
  av_frame_free(&picture);
  frame->private_data = NULL;
}

static void flush(bulkhead_decoder* self) {
  avcodec_flush_buffers(self->context);
  self->ended = 0;
}

static const char* last_error(bulkhead_decoder* self) {
  return self ? self->error : open_error;
}

static const bulkhead_backend kBackend = {
    .size = sizeof(bulkhead_backend),
    .abi_version = BULKHEAD_ABI_VERSION,
    .name = "cvendor",
    .version = "2.1",
    .enumerate_devices = enumerate_devices,
    .open = open_decoder,
    .send_packet = send_packet,
    .receive_frame = receive_frame,
    .release_frame = release_frame,
    .flush = flush,
    .close = close_decoder,
    .last_error = last_error,
};

const bulkhead_backend* cvendor_backend(void) { return &kBackend; }
