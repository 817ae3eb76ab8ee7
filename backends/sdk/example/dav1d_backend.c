/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A backend that decodes AV1 with libdav1d. README.md says how to build, pack
 * and try it. The ids in brackets are clauses of bulkhead_backend.h.
 */

#include <bulkhead_backend.h>
#include <dav1d/dav1d.h>
#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct bulkhead_decoder {
  Dav1dContext* context;
  bulkhead_runtime runtime;
  int pending; /* dav1d_get_picture was not called since the last packet */
  int ended;
  atomic_int starved; /* there was no memory for a picture */
  char error[256];
};

/* The sentence of a failed open, one for each thread, because open may run on
 * several threads at once: [thread-2]. */
static _Thread_local char open_error[256];

/* Copies a struct of another release. Fields that the sender does not have are
 * zero in the copy: [abi-1]. */
static void take(void* to, size_t capacity, const void* from, uint32_t size) {
  memset(to, 0, capacity);
  memcpy(to, from, size < capacity ? size : capacity);
}

/* The formats of libdav1d by layout and depth, as FFmpeg calls them. */
static const char* const kFormats[][3] = {
    {"gray", "gray10le", "gray12le"},
    {"yuv420p", "yuv420p10le", "yuv420p12le"},
    {"yuv422p", "yuv422p10le", "yuv422p12le"},
    {"yuv444p", "yuv444p10le", "yuv444p12le"},
    {"gbrp", "gbrp10le", "gbrp12le"}};

static const char* format_of(const Dav1dPicture* picture) {
  const Dav1dSequenceHeader* sequence = picture->seq_hdr;
  const int is_rgb = sequence->mtrx == DAV1D_MC_IDENTITY &&
                     picture->p.layout == DAV1D_PIXEL_LAYOUT_I444;
  return kFormats[is_rgb ? 4 : picture->p.layout][(picture->p.bpc - 8) / 2];
}

/* ---- The memory of pictures --------------------------------------------- */

struct memory {
  void* handle; /* a buffer of the runtime, or NULL */
  void* own;    /* memory of the backend, or NULL */
};

static size_t round_up(size_t value, size_t unit) {
  return (value + unit - 1) / unit * unit;
}

/* Allocates the memory of a picture. libdav1d calls this on any thread. */
static int allocate(Dav1dPicture* picture, void* cookie) {
  bulkhead_decoder* self = cookie;
  const bulkhead_runtime* runtime = &self->runtime;
  struct memory* memory = calloc(1, sizeof(*memory));
  const size_t width = round_up((size_t)picture->p.w, 128);
  const size_t height = round_up((size_t)picture->p.h, 128);
  const bulkhead_buffer_request request = {.size = sizeof(request),
                                           .pixel_format = format_of(picture),
                                           .width = (int32_t)width,
                                           .height = (int32_t)height,
                                           .alignment = DAV1D_PICTURE_ALIGNMENT,
                                           .padding = DAV1D_PICTURE_ALIGNMENT};
  bulkhead_buffer buffer = {.size = sizeof(buffer)};
  bulkhead_result result;
  if (!memory) {
    self->starved = 1;
    return DAV1D_ERR(ENOMEM);
  }
  result = runtime->acquire_buffer(runtime->context, &request, &buffer);
  if (result == BULKHEAD_OK) {
    memory->handle = buffer.handle;
    for (uint32_t i = 0; i < 3 && i < buffer.plane_count; ++i) {
      picture->data[i] = buffer.data[i];
      picture->stride[i > 0] = buffer.stride[i]; /* [buffer-1] */
    }
  } else if (result == BULKHEAD_UNSUPPORTED) {
    /* [acquire-1]: planes as large as luma are large enough. */
    const size_t stride = width * (picture->p.bpc > 8 ? 2 : 1);
    const size_t plane = stride * height;
    uint8_t* own = aligned_alloc(DAV1D_PICTURE_ALIGNMENT,
                                 3 * plane + DAV1D_PICTURE_ALIGNMENT);
    memory->own = own;
    for (size_t i = 0; own && i < 3; ++i) picture->data[i] = own + i * plane;
    picture->stride[0] = picture->stride[1] = (ptrdiff_t)stride;
  }
  if (!memory->handle && !memory->own) {
    free(memory);
    self->starved = 1;
    return DAV1D_ERR(ENOMEM);
  }
  picture->allocator_data = memory;
  return 0;
}

static void release(Dav1dPicture* picture, void* cookie) {
  const bulkhead_runtime* runtime = &((bulkhead_decoder*)cookie)->runtime;
  struct memory* memory = picture->allocator_data;
  if (memory->handle) runtime->release_buffer(runtime->context, memory->handle);
  free(memory->own);
  free(memory);
}

/* ---- The device ---------------------------------------------------------- */

static bulkhead_result enumerate_devices(const bulkhead_runtime* runtime,
                                         void (*emit)(void* emit_context,
                                                      const bulkhead_device*),
                                         void* emit_context) {
  const bulkhead_capability av1 = {
      .size = sizeof(av1),
      .stream_kind = BULKHEAD_STREAM_VIDEO,
      .codec = "av1",
      .profile = BULKHEAD_ALL_PROFILES,
      .formats = kFormats[0],
      .format_count = sizeof(kFormats) / sizeof(kFormats[0][0])};
  char description[64];
  const bulkhead_device device = {
      .size = sizeof(device),
      .name = "dav1d",
      .description = description,
      .capabilities = &av1,
      .capability_count = 1,
      .outputs = BULKHEAD_OUTPUT_OWN_MEMORY | BULKHEAD_OUTPUT_RUNTIME_BUFFERS};
  (void)runtime;
  snprintf(description, sizeof(description), "AV1 on libdav1d %s",
           dav1d_version());
  emit(emit_context, &device);
  return BULKHEAD_OK;
}

/* ---- A stream ------------------------------------------------------------ */

static bulkhead_result refuse(const char* what, const char* which) {
  snprintf(open_error, sizeof(open_error), "%s \"%s\"", what, which);
  return BULKHEAD_UNSUPPORTED;
}

static void drop_log(void* cookie, const char* format, va_list values) {
  (void)cookie, (void)format, (void)values;
}

static bulkhead_result open_decoder(const bulkhead_open_parameters* parameters,
                                    const bulkhead_runtime* runtime,
                                    bulkhead_decoder** decoder) {
  bulkhead_open_parameters asked;
  bulkhead_codec_parameters codec;
  bulkhead_decoder* self;
  Dav1dSettings settings;
  int error;
  take(&asked, sizeof(asked), parameters, parameters->size);
  take(&codec, sizeof(codec), asked.codec, asked.codec->size);
  if (asked.device != 0) return refuse("there is one device,", "dav1d:0");
  if (!codec.codec || strcmp(codec.codec, "av1") != 0) {
    return refuse("only av1 is decoded, not", codec.codec ? codec.codec : "");
  }
  if (asked.option_count > 0) {
    return refuse("there is no option", asked.options[0].key);
  }
  self = calloc(1, sizeof(*self));
  if (!self) return BULKHEAD_OUT_OF_MEMORY;
  take(&self->runtime, sizeof(self->runtime), runtime, runtime->size);

  dav1d_default_settings(&settings);
  settings.n_threads = (int)(asked.threads < 256 ? asked.threads : 256);
  settings.all_layers = 0;
  /* [open-4] */
  if (asked.max_frame_pixels <= UINT32_MAX) {
    settings.frame_size_limit = (unsigned)asked.max_frame_pixels;
  }
  settings.allocator = (Dav1dPicAllocator){.cookie = self,
                                           .alloc_picture_callback = allocate,
                                           .release_picture_callback = release};
  settings.logger = (Dav1dLogger){.cookie = NULL, .callback = drop_log};
  error = dav1d_open(&self->context, &settings);
  if (error < 0) {
    snprintf(open_error, sizeof(open_error), "libdav1d does not open: %s",
             strerror(-error));
    free(self);
    return error == DAV1D_ERR(ENOMEM) ? BULKHEAD_OUT_OF_MEMORY
                                      : BULKHEAD_FAILED;
  }
  *decoder = self;
  return BULKHEAD_OK;
}

static bulkhead_result fail(bulkhead_decoder* self, const char* what,
                            int error) {
  if (error == DAV1D_ERR(ERANGE)) {
    snprintf(self->error, sizeof(self->error),
             "a picture is larger than the limit of pixels");
    return BULKHEAD_OUT_OF_MEMORY;
  }
  snprintf(self->error, sizeof(self->error), "libdav1d cannot decode %s: %s",
           what, strerror(-error));
  return error == DAV1D_ERR(ENOMEM) ? BULKHEAD_OUT_OF_MEMORY
                                    : BULKHEAD_BAD_INPUT;
}

static bulkhead_result send_packet(bulkhead_decoder* self,
                                   const bulkhead_packet* packet) {
  bulkhead_packet from;
  Dav1dData data = {0};
  uint8_t* bytes;
  int error;
  if (!packet) {
    self->ended = 1;
    return BULKHEAD_OK;
  }
  take(&from, sizeof(from), packet, packet->size);
  if (from.bytes == 0) return BULKHEAD_OK; /* [packet-2] */
  /* A copy, because the packet is only valid during this call: [packet-1]. */
  bytes = dav1d_data_create(&data, from.bytes);
  if (!bytes) return fail(self, "a packet", DAV1D_ERR(ENOMEM));
  memcpy(bytes, from.data, from.bytes);
  data.m.timestamp = from.pts;
  data.m.duration = from.duration;
  /* libdav1d copies m.offset to the packet's picture; next_picture reads it. */
  data.m.offset = (from.flags & BULKHEAD_PACKET_DISCARD) != 0;
  error = dav1d_send_data(self->context, &data);
  self->pending = 1;
  if (data.data) dav1d_data_unref(&data);
  if (error == DAV1D_ERR(EAGAIN)) return BULKHEAD_AGAIN; /* [again-1] */
  return error < 0 ? fail(self, "a packet", error) : BULKHEAD_OK;
}

/* Gets the next picture that is to be shown. Before the end of the stream,
 * calls dav1d_get_picture once after each packet: a further call would make
 * libdav1d wait for all of its threads. */
static int next_picture(bulkhead_decoder* self, Dav1dPicture* picture) {
  while (self->pending || self->ended) {
    const int was_pending = self->pending;
    int error;
    memset(picture, 0, sizeof(*picture));
    self->pending = 0;
    error = dav1d_get_picture(self->context, picture);
    /* After the end, a second call waits for the threads' pictures. */
    if (error == DAV1D_ERR(EAGAIN) && was_pending && self->ended) continue;
    if (error < 0) return error;
    if (picture->m.offset == 0) return 0;
    dav1d_picture_unref(picture);
  }
  return DAV1D_ERR(EAGAIN);
}

static int64_t divisor(int64_t a, int64_t b) {
  return b == 0 ? a : divisor(b, a % b);
}

static bulkhead_rational aspect_of(const Dav1dPicture* picture) {
  const int64_t x = (int64_t)picture->p.h * picture->frame_hdr->render_width;
  const int64_t y = (int64_t)picture->p.w * picture->frame_hdr->render_height;
  const int64_t common = divisor(x, y);
  return (bulkhead_rational){(int32_t)(x / common), (int32_t)(y / common)};
}

static bulkhead_result receive_frame(bulkhead_decoder* self,
                                     bulkhead_frame* frame) {
  Dav1dPicture* picture = calloc(1, sizeof(*picture));
  const Dav1dSequenceHeader* sequence;
  bulkhead_frame out = {.size = sizeof(out)};
  int error;
  /* libdav1d forgets the error of a picture if another one is ready, and would
   * go on after it: [memory-1]. */
  if (!picture || self->starved) {
    free(picture);
    return fail(self, "a picture", DAV1D_ERR(ENOMEM));
  }
  error = next_picture(self, picture);
  if (error < 0) {
    free(picture);
    if (error != DAV1D_ERR(EAGAIN)) return fail(self, "a picture", error);
    return self->ended ? BULKHEAD_END_OF_STREAM : BULKHEAD_AGAIN;
  }
  sequence = picture->seq_hdr;
  out.pixel_format = format_of(picture);
  out.width = picture->p.w;
  out.height = picture->p.h;
  out.plane_count = picture->p.layout == DAV1D_PIXEL_LAYOUT_I400 ? 1 : 3;
  for (uint32_t i = 0; i < out.plane_count; ++i) {
    out.data[i] = picture->data[i];
    out.stride[i] = (int32_t)picture->stride[i > 0];
  }
  out.pts = picture->m.timestamp; /* [frame-6] */
  out.duration = picture->m.duration;
  out.keyframe = picture->frame_hdr->frame_type == DAV1D_FRAME_TYPE_KEY;
  out.color_range = sequence->color_range ? 2 : 1; /* [color-3] */
  out.color_primaries = (int32_t)sequence->pri;
  out.color_transfer = (int32_t)sequence->trc;
  out.color_space = (int32_t)sequence->mtrx;
  out.chroma_location = sequence->chr == DAV1D_CHR_VERTICAL    ? 1
                        : sequence->chr == DAV1D_CHR_COLOCATED ? 3
                                                               : 0;
  out.sample_aspect_ratio = aspect_of(picture);
  out.buffer = ((struct memory*)picture->allocator_data)->handle;
  out.private_data = picture;
  if (frame->size < out.size) out.size = frame->size; /* [abi-2] */
  memcpy(frame, &out, out.size);
  return BULKHEAD_OK;
}

static void release_frame(bulkhead_decoder* self, bulkhead_frame* frame) {
  (void)self;
  dav1d_picture_unref(frame->private_data);
  free(frame->private_data);
}

static void flush(bulkhead_decoder* self) {
  dav1d_flush(self->context);
  self->pending = self->ended = 0;
}

static void close_decoder(bulkhead_decoder* self) {
  dav1d_close(&self->context);
  free(self);
}

static const char* last_error(bulkhead_decoder* self) {
  return self ? self->error : open_error;
}

static const bulkhead_backend kBackend = {
    .size = sizeof(bulkhead_backend),
    .abi_version = BULKHEAD_ABI_VERSION,
    .min_abi_version = 1,
    .name = "dav1d",
    .version = "1.0",
    .enumerate_devices = enumerate_devices,
    .open = open_decoder,
    .send_packet = send_packet,
    .receive_frame = receive_frame,
    .release_frame = release_frame,
    .flush = flush,
    .close = close_decoder,
    .last_error = last_error,
    .stream_kinds = BULKHEAD_DECODES_VIDEO,
};

__attribute__((visibility("default"))) const bulkhead_backend* dav1d_backend(
    void) {
  return &kBackend;
}
