/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The C ABI between Bulkhead's worker and a decoding backend.
 *
 * A backend is a shared object that exports one function, named by its entry
 * point (`name = module:attr`), of type bulkhead_backend_entry. It is loaded
 * into a sandboxed process of its own: no network, no file but its own
 * distribution and what an operator granted. It never runs in the application.
 *
 *     static const bulkhead_backend kBackend = {
 *         .size = sizeof(bulkhead_backend),
 *         .abi_version = BULKHEAD_ABI_VERSION,
 *         .name = "acme", .version = "1.2",
 *         .enumerate_devices = acme_enumerate_devices, ...};
 *     const bulkhead_backend* acme_backend(void) { return &kBackend; }
 *
 * Life of a backend. The entry function runs once, in the zygote, which never
 * sees media. The process is then cloned: one short-lived clone calls
 * enumerate_devices; each stream gets a clone of its own, which calls open and
 * decodes that one stream. So: start no thread and touch no driver before
 * enumerate_devices or open. After open the process may neither open files nor
 * start processes; threads are allowed at any time from open on.
 *
 * A backend whose context in the device is dear says worker_scope = "backend"
 * in bulkhead.toml. Then one clone serves many streams, each on a thread of its
 * own. When that process ends, however it does, its streams are opened anew,
 * each in a clone of its own, which must work too.
 *
 * Threads. The runtime calls one decoder from one thread. With worker_scope =
 * "backend", open and the functions of different decoders are called at the
 * same time; last_error(NULL) is called on the thread of the failed open. The
 * services in bulkhead_runtime may be called from any thread of the backend.
 *
 * Versioning. Each struct begins with its size, set by whoever fills it; a
 * reader takes fields beyond that size as zero. A struct that the other side
 * fills in (bulkhead_buffer, bulkhead_frame) arrives with the size of its
 * memory and leaves with the size that was filled. Fields are only ever
 * appended.
 * abi_version changes when a field changes its meaning.
 *
 * Strings are UTF-8 and NUL-terminated; names of codecs and of pixel and sample
 * formats are those that FFmpeg prints ("h264", "yuv420p10le", "fltp").
 */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BULKHEAD_ABI_VERSION 1u

/* "The stream tells no timestamp." */
#define BULKHEAD_NO_TIMESTAMP INT64_MIN

#define BULKHEAD_MAX_PLANES 4

/* What a call returns. Every value but OK, AGAIN and END_OF_STREAM should
 * leave a sentence for people in last_error. */
typedef enum bulkhead_result {
  BULKHEAD_OK = 0,
  /* send_packet: take frames first. receive_frame: needs another packet. */
  BULKHEAD_AGAIN = 1,
  /* receive_frame, after the end was sent: no frame is left. */
  BULKHEAD_END_OF_STREAM = 2,
  /* This packet is damaged; the next one may decode. */
  BULKHEAD_BAD_INPUT = 3,
  /* open: not this codec, profile or size on this device. */
  BULKHEAD_UNSUPPORTED = 4,
  BULKHEAD_OUT_OF_MEMORY = 5,
  /* The device is gone; the session will be opened anew. */
  BULKHEAD_DEVICE_LOST = 6,
  BULKHEAD_FAILED = 7
} bulkhead_result;

typedef struct bulkhead_rational {
  int32_t numerator;
  int32_t denominator; /* 0: unknown */
} bulkhead_rational;

typedef struct bulkhead_option {
  const char* key;
  const char* value;
} bulkhead_option;

enum { BULKHEAD_STREAM_VIDEO = 0, BULKHEAD_STREAM_AUDIO = 1 };

/* What bulkhead_backend.stream_kinds is made of. */
enum {
  BULKHEAD_DECODES_VIDEO = 1u << BULKHEAD_STREAM_VIDEO,
  BULKHEAD_DECODES_AUDIO = 1u << BULKHEAD_STREAM_AUDIO
};

/* A blob beside a packet or a stream, such as a palette. `kind` is FFmpeg's
 * name of the packet side data type ("Palette", "New Extradata"). */
typedef struct bulkhead_side_data {
  const char* kind;
  const uint8_t* data;
  size_t bytes;
} bulkhead_side_data;

/* What the container tells about the stream. Borrowed for the call. */
typedef struct bulkhead_codec_parameters {
  uint32_t size;
  const char* codec;
  uint32_t codec_tag;
  const uint8_t* extradata;
  size_t extradata_bytes;
  int32_t width;
  int32_t height;
  const char* pixel_format; /* may be NULL */
  int32_t profile;          /* FFmpeg's numbers; -99: unknown */
  int32_t level;
  int32_t bits_per_coded_sample;
  int32_t bits_per_raw_sample;
  int64_t bit_rate;
  int32_t field_order;
  int32_t video_delay;
  int32_t chroma_location;
  /* Code points of ITU-T H.273; color_range 0 unknown, 1 limited, 2 full. */
  int32_t color_range;
  int32_t color_primaries;
  int32_t color_transfer;
  int32_t color_space;
  bulkhead_rational sample_aspect_ratio;
  bulkhead_rational time_base; /* of all timestamps of the stream */
  bulkhead_rational frame_rate;
  const bulkhead_side_data* side_data;
  size_t side_data_count;
  uint32_t stream_kind; /* BULKHEAD_STREAM_*; never one it does not decode */
  /* Of audio, as far as the container tells; 0 or NULL: it does not. */
  const char* sample_format;
  int32_t sample_rate;
  int32_t channels;
  uint64_t channel_mask;   /* of FFmpeg's AV_CH_*; 0: order of no known names */
  int32_t block_align;     /* bytes */
  int32_t frame_size;      /* samples of each channel in a packet */
  int32_t initial_padding; /* samples that the encoder put before the first */
  int32_t trailing_padding; /* and after the last */
  int32_t seek_preroll;     /* samples to decode before those that are wanted */
} bulkhead_codec_parameters;

enum {
  BULKHEAD_PACKET_KEYFRAME = 1u << 0,
  BULKHEAD_PACKET_CORRUPT = 1u << 1,
  /* Decode, but output nothing for it (edit lists). */
  BULKHEAD_PACKET_DISCARD = 1u << 2
};

/* One packet. `data` is followed by 64 readable zero bytes. Borrowed for the
 * call. */
typedef struct bulkhead_packet {
  uint32_t size;
  uint32_t flags;
  const uint8_t* data;
  size_t bytes;
  int64_t pts;
  int64_t dts;
  int64_t duration;
  int64_t position; /* byte in the file, -1: unknown */
  const bulkhead_side_data* side_data;
  size_t side_data_count;
} bulkhead_packet;

/* Memory to decode into, from acquire_buffer. Where the picture can be
 * delivered as it is, this memory is the slot that the application will read,
 * and decoding into it saves a copy. */
typedef struct bulkhead_buffer_request {
  uint32_t size;
  const char* pixel_format;
  /* Coded size: includes whatever the decoder writes beyond the picture. */
  int32_t width;
  int32_t height;
  /* Of each plane's start and stride, a power of two, at most 4096. */
  uint32_t alignment;
  /* Bytes that may be written beyond the last row of each plane. */
  uint32_t padding;
} bulkhead_buffer_request;

typedef struct bulkhead_buffer {
  uint32_t size;
  uint32_t plane_count;
  void* handle; /* the runtime's; pass it back unchanged */
  uint8_t* data[BULKHEAD_MAX_PLANES];
  int32_t stride[BULKHEAD_MAX_PLANES];
  size_t bytes[BULKHEAD_MAX_PLANES];
} bulkhead_buffer;

/* One decoded picture, or some decoded samples of audio, which use the fields
 * at the end, pts, duration and private_data alone.
 *
 * Samples are those that are to be heard: padding of the encoder that a
 * packet's side data "Skip Samples" names has been left out.
 *
 * The planes of a picture lie in a buffer from acquire_buffer, named by
 * `buffer`, or in memory of the backend (`buffer` NULL); in either case they
 * stay unchanged until release_frame. */
typedef struct bulkhead_frame {
  uint32_t size;
  const char* pixel_format;
  int32_t width;
  int32_t height;
  uint32_t plane_count;
  uint8_t* data[BULKHEAD_MAX_PLANES]; /* a palette is the second plane */
  int32_t stride[BULKHEAD_MAX_PLANES];
  int64_t pts; /* best known, time base of the stream */
  int64_t duration;
  int32_t keyframe;
  int32_t interlaced;
  int32_t top_field_first;
  int32_t color_range;
  int32_t color_primaries;
  int32_t color_transfer;
  int32_t color_space;
  int32_t chroma_location;
  bulkhead_rational sample_aspect_ratio;
  /* 3x3 matrix, 16.16 fixed point, as in ISO 14496-12; from the bitstream. */
  int32_t has_display_matrix;
  int32_t display_matrix[9];
  void* buffer;       /* handle of the acquired buffer that holds the planes */
  void* private_data; /* the backend's */
  const char* sample_format;
  int32_t sample_rate;
  int32_t channels;
  uint64_t channel_mask; /* as in bulkhead_codec_parameters */
  int32_t sample_count;  /* of each channel; 0: nothing is heard */
  /* One for each channel where the format is planar, else one for all. */
  const uint8_t* const* planes;
  /* 1: parts of the picture are made up, since its packet was damaged or a
   * picture that it refers to is missing. */
  int32_t damaged;
} bulkhead_frame;

typedef struct bulkhead_device {
  uint32_t size;
  const char* name;        /* reserved in bulkhead.toml; indexes are counted */
  const char* description; /* a few words for people */
} bulkhead_device;

/* Services of the runtime. Valid for the life of the decoder (of the call, for
 * enumerate_devices). */
typedef struct bulkhead_runtime {
  uint32_t size;
  uint32_t abi_version;
  void* context; /* first argument of every function here */
  /* Fills *buffer, which then holds one reference. A buffer in which a
   * published picture lies is not recycled while the backend holds one; the
   * backend may go on reading such a buffer but no longer writes into it.
   * UNSUPPORTED: not such a picture; use memory of the backend's own. */
  bulkhead_result (*acquire_buffer)(void* context,
                                    const bulkhead_buffer_request* request,
                                    bulkhead_buffer* buffer);
  void (*reference_buffer)(void* context, void* handle);
  void (*release_buffer)(void* context, void* handle);
  /* One line for the operator's log; bounded and rate-limited. */
  void (*log)(void* context, const char* line);
} bulkhead_runtime;

typedef struct bulkhead_open_parameters {
  uint32_t size;
  uint32_t device; /* ordinal, in the order of enumerate_devices */
  const bulkhead_codec_parameters* codec;
  uint32_t threads; /* 0: the backend chooses */
  /* How often this stream was opened before, plus 1: above 1 after a crash. */
  uint32_t incarnation;
  const bulkhead_option* options; /* unknown keys are an UNSUPPORTED error */
  size_t option_count;
  uint64_t max_frame_pixels;
  /* 1: decode on behind errors that can be ignored, as ffmpeg does with
   * -err_detect ignore_err; pictures with parts that are then made up are still
   * marked (bulkhead_frame.damaged). 0: as strictly as by default. */
  uint32_t ignore_errors;
} bulkhead_open_parameters;

typedef struct bulkhead_decoder bulkhead_decoder;

typedef struct bulkhead_backend {
  uint32_t size;
  uint32_t abi_version;
  const char* name;
  const char* version;
  /* Calls `emit` once a device. */
  bulkhead_result (*enumerate_devices)(const bulkhead_runtime* runtime,
                                       void (*emit)(void* emit_context,
                                                    const bulkhead_device*),
                                       void* emit_context);
  /* On success *decoder is the backend's, until close. */
  bulkhead_result (*open)(const bulkhead_open_parameters* parameters,
                          const bulkhead_runtime* runtime,
                          bulkhead_decoder** decoder);
  /* NULL: end of stream; receive_frame then drains. */
  bulkhead_result (*send_packet)(bulkhead_decoder* decoder,
                                 const bulkhead_packet* packet);
  bulkhead_result (*receive_frame)(bulkhead_decoder* decoder,
                                   bulkhead_frame* frame);
  void (*release_frame)(bulkhead_decoder* decoder, bulkhead_frame* frame);
  /* Forgets all packets and frames, as before a seek; undoes the drain. */
  void (*flush)(bulkhead_decoder* decoder);
  void (*close)(bulkhead_decoder* decoder);
  /* The sentence about the last failure; `decoder` is NULL after a failed open
   * or enumeration. Valid until the next call. */
  const char* (*last_error)(bulkhead_decoder* decoder);
  /* BULKHEAD_DECODES_*. 0, as of a backend that is older than this field, is
   * video alone. open is not called for a stream of another kind. */
  uint32_t stream_kinds;
} bulkhead_backend;

typedef const bulkhead_backend* (*bulkhead_backend_entry)(void);

#ifdef __cplusplus
}
#endif
