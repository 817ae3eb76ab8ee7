/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The C ABI between Bulkhead's worker and a decoding backend.
 *
 * A backend is a shared object that exports one function of type
 * bulkhead_backend_entry, whose name the entry point gives (`name =
 * module:attr`). Bulkhead loads the object into a sandboxed process of its own,
 * never into the application. In the sandbox there is no network, and no file
 * except those of the backend's distribution and those that an operator has
 * granted.
 *
 *     static const bulkhead_backend kBackend = {
 *         .size = sizeof(bulkhead_backend),
 *         .abi_version = BULKHEAD_ABI_VERSION,
 *         .name = "acme", .version = "1.2",
 *         .enumerate_devices = acme_enumerate_devices, ...};
 *     const bulkhead_backend* acme_backend(void) { return &kBackend; }
 *
 * Life of a backend. The entry function runs once, in a process called the
 * zygote, which never sees media. The zygote is then cloned, as by fork(). One
 * short-lived clone calls enumerate_devices. Each stream gets a clone of its
 * own, which calls open and decodes that stream. With start = "exec" in
 * bulkhead.toml, or if an operator requires it, each stream has a zygote of its
 * own too, in which the entry function runs, and which is cloned once.
 *
 * Start no thread and initialize no driver before enumerate_devices or open:
 * threads and most drivers do not survive the cloning. The clone that decodes
 * can neither open files nor start processes, not even in open; it can start
 * threads from open on. It inherits the descriptors of granted devices that
 * were open in the zygote. A backend that needs such a device therefore opens
 * the device file in its entry function, and uses it from open on.
 *
 * A backend whose device context is expensive to create can set worker_scope =
 * "backend" in bulkhead.toml. Then one clone serves many streams, each on a
 * thread of its own. When that process ends, for any reason, each of its
 * streams is opened again in a clone of its own, which must work as well.
 *
 * Threads. The runtime calls the functions of one decoder from one thread. With
 * worker_scope = "backend", calls of open and of the functions of different
 * decoders can run at the same time; last_error(NULL) is called on the thread
 * of the failed open. The backend may call the services in bulkhead_runtime
 * from any of its threads.
 *
 * Versioning. Each struct begins with its size in bytes, set by the side that
 * fills the struct; the reader treats fields beyond that size as zero. A struct
 * for the other side to fill in (bulkhead_buffer, bulkhead_frame) is passed
 * with `size` set to the size of its memory, and is returned with `size` set to
 * the part that was filled. New versions only append fields. abi_version
 * changes when the meaning of a field changes.
 *
 * Strings are UTF-8 and NUL-terminated. Names of codecs and of pixel and sample
 * formats are those that FFmpeg prints ("h264", "yuv420p10le", "fltp").
 */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BULKHEAD_ABI_VERSION 1u

/* The value of an unknown timestamp. */
#define BULKHEAD_NO_TIMESTAMP INT64_MIN

#define BULKHEAD_MAX_PLANES 4

/* The result of a call. No call returns another value. A call that does not
 * return OK, AGAIN or END_OF_STREAM should make last_error return a sentence
 * that describes the problem for people.
 *
 * A backend that breaks a rule of this file loses its worker. The caller of the
 * stream gets an error that names the backend, the rule and the position. */
typedef enum bulkhead_result {
  BULKHEAD_OK = 0,
  /* From send_packet: receive frames first, then send the same packet again.
   * From receive_frame: send another packet first; or, after the end was sent,
   * the next frame is not ready yet, and the runtime asks again. A decoder that
   * is at work may return AGAIN from both for a while, but not for half of the
   * deadline of a frame (10 s by default). */
  BULKHEAD_AGAIN = 1,
  /* Only from receive_frame, and only after the end was sent: there are no more
   * frames. */
  BULKHEAD_END_OF_STREAM = 2,
  /* This packet is damaged; the next one may decode. */
  BULKHEAD_BAD_INPUT = 3,
  /* From open: this device does not decode this codec, profile or size, or does
   * not know an option. */
  BULKHEAD_UNSUPPORTED = 4,
  BULKHEAD_OUT_OF_MEMORY = 5,
  /* The device is gone; the stream will be opened again in a new process. */
  BULKHEAD_DEVICE_LOST = 6,
  /* The backend failed, not the file: the stream will be opened again in a new
   * process, and given up after a few. */
  BULKHEAD_FAILED = 7
} bulkhead_result;

typedef struct bulkhead_rational {
  int32_t numerator;
  int32_t denominator; /* 0 if the value is unknown */
} bulkhead_rational;

typedef struct bulkhead_option {
  const char* key;
  const char* value;
} bulkhead_option;

enum { BULKHEAD_STREAM_VIDEO = 0, BULKHEAD_STREAM_AUDIO = 1 };

/* The bits of bulkhead_backend.stream_kinds. */
enum {
  BULKHEAD_DECODES_VIDEO = 1u << BULKHEAD_STREAM_VIDEO,
  BULKHEAD_DECODES_AUDIO = 1u << BULKHEAD_STREAM_AUDIO
};

/* Extra data of a packet or a stream, such as a palette. `kind` is FFmpeg's
 * name of the packet side data type ("Palette", "New Extradata"). */
typedef struct bulkhead_side_data {
  const char* kind;
  const uint8_t* data;
  size_t bytes;
} bulkhead_side_data;

/* Properties of the stream that the container declares. Valid during the call
 * of open only: copy what you need. */
typedef struct bulkhead_codec_parameters {
  uint32_t size;
  const char* codec;
  uint32_t codec_tag;
  const uint8_t* extradata;
  size_t extradata_bytes;
  int32_t width;
  int32_t height;
  const char* pixel_format; /* NULL if unknown */
  int32_t profile;          /* FFmpeg's number; -99 if unknown */
  int32_t level;
  int32_t bits_per_coded_sample;
  int32_t bits_per_raw_sample;
  int64_t bit_rate;
  int32_t field_order;
  int32_t video_delay;
  int32_t chroma_location;
  /* color_range is 0 (unknown), 1 (limited) or 2 (full). The other three are
   * code points of ITU-T H.273. */
  int32_t color_range;
  int32_t color_primaries;
  int32_t color_transfer;
  int32_t color_space;
  bulkhead_rational sample_aspect_ratio;
  bulkhead_rational time_base; /* the unit, in seconds, of all timestamps */
  bulkhead_rational frame_rate;
  const bulkhead_side_data* side_data;
  size_t side_data_count;
  /* One of BULKHEAD_STREAM_*, and always one that the backend decodes. */
  uint32_t stream_kind;
  /* The fields below describe audio; 0 or NULL if the container does not
   * declare the value. Numbers of samples count the samples of one channel. */
  const char* sample_format;
  int32_t sample_rate; /* per second */
  int32_t channels;
  /* Bits are FFmpeg's AV_CH_*; 0 if the order of the channels is unknown. */
  uint64_t channel_mask;
  int32_t block_align;      /* in bytes */
  int32_t frame_size;       /* samples in a packet */
  int32_t initial_padding;  /* samples that the encoder added at the start */
  int32_t trailing_padding; /* samples that the encoder added at the end */
  int32_t seek_preroll;     /* samples to decode and drop after a seek */
} bulkhead_codec_parameters;

enum {
  BULKHEAD_PACKET_KEYFRAME = 1u << 0,
  BULKHEAD_PACKET_CORRUPT = 1u << 1,
  /* Decode the packet, but output no frame for it (edit lists). */
  BULKHEAD_PACKET_DISCARD = 1u << 2
};

/* One packet. 64 readable zero bytes follow the `bytes` bytes at `data`. Valid
 * during the call of send_packet only. */
typedef struct bulkhead_packet {
  uint32_t size;
  uint32_t flags;
  const uint8_t* data;
  size_t bytes;
  int64_t pts;
  int64_t dts;
  int64_t duration;
  int64_t position; /* byte offset in the file, -1 if unknown */
  const bulkhead_side_data* side_data;
  size_t side_data_count;
} bulkhead_packet;

/* Asks acquire_buffer for memory to decode a picture into. If the picture can
 * be delivered without conversion, that memory is the slot that the application
 * will read, so decoding into it saves a copy. */
typedef struct bulkhead_buffer_request {
  uint32_t size;
  const char* pixel_format;
  /* The coded size in pixels, including everything that the decoder writes
   * outside the visible picture. */
  int32_t width;
  int32_t height;
  /* The alignment of each plane's start and stride in bytes: a power of two, at
   * most 4096. */
  uint32_t alignment;
  /* The number of bytes that the decoder may write after the last row of each
   * plane. */
  uint32_t padding;
} bulkhead_buffer_request;

/* Memory for one picture. */
typedef struct bulkhead_buffer {
  uint32_t size;
  uint32_t plane_count;
  void* handle; /* identifies the buffer in calls of the runtime's services */
  uint8_t* data[BULKHEAD_MAX_PLANES];
  int32_t stride[BULKHEAD_MAX_PLANES]; /* bytes from one row to the next */
  size_t bytes[BULKHEAD_MAX_PLANES];   /* the size of each plane */
} bulkhead_buffer;

/* One decoded picture, or a number of decoded audio samples. Audio uses only
 * pts, duration, private_data and the fields from sample_format to planes.
 *
 * Return only the samples that are to be heard: leave out the encoder's padding
 * that the side data "Skip Samples" of a packet names.
 *
 * The planes of a picture lie in a buffer from acquire_buffer, identified by
 * `buffer`, or in memory of the backend, with `buffer` NULL. In both cases they
 * must stay unchanged until release_frame. */
typedef struct bulkhead_frame {
  uint32_t size;
  const char* pixel_format;
  int32_t width;
  int32_t height;
  uint32_t plane_count; /* at least the planes of the pixel format */
  /* A palette, if the pixel format has one, is the second plane. */
  uint8_t* data[BULKHEAD_MAX_PLANES];
  /* Bytes from one row to the next; below 0 if the rows lie upside down. */
  int32_t stride[BULKHEAD_MAX_PLANES];
  /* That of the frame's packet, or the best estimate if the packet has none, in
   * the time base of the stream. The runtime finds the packet by it. */
  int64_t pts;
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
  /* A display matrix from the bitstream: 3x3, 16.16 fixed point, as in ISO
   * 14496-12. */
  int32_t has_display_matrix;
  int32_t display_matrix[9];
  void* buffer; /* the handle of the buffer that holds the planes, or NULL */
  void* private_data; /* for the backend's own use */
  const char* sample_format;
  int32_t sample_rate;
  int32_t channels;
  uint64_t channel_mask; /* as in bulkhead_codec_parameters */
  /* Samples of each channel; 0 for a picture, or if there is nothing to hear.
   */
  int32_t sample_count;
  /* One plane for each channel if the format is planar, else a single one. */
  const uint8_t* const* planes;
  /* 1 if parts of the picture are invented, because its packet was damaged or a
   * picture that it refers to is missing. */
  int32_t damaged;
  /* 1 if, since the frame before, the decoder met an error in a packet for
   * which no call returned BAD_INPUT. The frame itself may be sound. The
   * runtime then waits for the frames of all packets sent so far before it
   * delivers one that may refer to them. Without this, frames that are shown
   * before a damaged one, and refer to it, count as sound. */
  int32_t met_error;
} bulkhead_frame;

typedef struct bulkhead_device {
  uint32_t size;
  /* One of the device names in bulkhead.toml. Several devices may have the same
   * name; the runtime numbers them. */
  const char* name;
  const char* description; /* a few words for people */
} bulkhead_device;

/* The runtime's services for the backend. The struct passed to open is valid
 * until close, and the one passed to enumerate_devices during that call. */
typedef struct bulkhead_runtime {
  uint32_t size;
  uint32_t abi_version;
  void* context; /* pass this as the first argument of every service */
  /* Fills *buffer. The backend then owns one reference to the buffer. As long
   * as the backend holds a reference, the runtime does not reuse the buffer,
   * even after a picture in it has been published. From then on the backend
   * may read the buffer, but must not write to it. Returns UNSUPPORTED if the
   * runtime has no buffers for such a picture; then decode into memory of the
   * backend. */
  bulkhead_result (*acquire_buffer)(void* context,
                                    const bulkhead_buffer_request* request,
                                    bulkhead_buffer* buffer);
  void (*reference_buffer)(void* context, void* handle);
  void (*release_buffer)(void* context, void* handle);
  /* Writes one line to the log of this process, of which crash records keep the
   * end (`bulkhead crashes`). The length and the rate of lines are limited. */
  void (*log)(void* context, const char* line);
} bulkhead_runtime;

typedef struct bulkhead_open_parameters {
  uint32_t size;
  uint32_t device; /* the index of the device in enumerate_devices' order */
  const bulkhead_codec_parameters* codec;
  uint32_t threads; /* the number of threads; 0: the backend chooses */
  /* 1 in the first worker of the session, and above 1 after a crash: the number
   * of workers that this session has had. */
  uint32_t incarnation;
  /* Options from the application. Return UNSUPPORTED for an unknown key. */
  const bulkhead_option* options;
  size_t option_count;
  /* Refuse larger pictures with OUT_OF_MEMORY; 0 means no limit. */
  uint64_t max_frame_pixels;
  /* 1: continue after errors that can be ignored, like ffmpeg with -err_detect
   * ignore_err; pictures with invented parts must still be marked
   * (bulkhead_frame.damaged). 0: be as strict as ffmpeg is by default. */
  uint32_t ignore_errors;
} bulkhead_open_parameters;

typedef struct bulkhead_decoder bulkhead_decoder;

typedef struct bulkhead_backend {
  uint32_t size;
  uint32_t abi_version;
  const char* name;
  const char* version;
  /* Calls `emit` once for each device, with `emit_context`. */
  bulkhead_result (*enumerate_devices)(const bulkhead_runtime* runtime,
                                       void (*emit)(void* emit_context,
                                                    const bulkhead_device*),
                                       void* emit_context);
  /* Opens a decoder for one stream. On success *decoder is the backend's
   * object, which the runtime passes to the functions below until close. */
  bulkhead_result (*open)(const bulkhead_open_parameters* parameters,
                          const bulkhead_runtime* runtime,
                          bulkhead_decoder** decoder);
  /* Takes one packet. A packet gives at most one frame; of several with its
   * timestamp the first counts. By the end of the stream each packet that shows
   * a picture has given its frame, or BAD_INPUT was returned for it. NULL marks
   * the end of the stream; receive_frame then returns the remaining frames, and
   * END_OF_STREAM after the last one. */
  bulkhead_result (*send_packet)(bulkhead_decoder* decoder,
                                 const bulkhead_packet* packet);
  /* Fills *frame with the next frame in display order. */
  bulkhead_result (*receive_frame)(bulkhead_decoder* decoder,
                                   bulkhead_frame* frame);
  /* Takes a frame back. *frame has the contents that receive_frame filled in,
   * but may lie at another address. Called once for every received frame, in
   * any order, possibly after a flush, and always before close. */
  void (*release_frame)(bulkhead_decoder* decoder, bulkhead_frame* frame);
  /* Drops all packets and all frames not yet received, before a seek. After the
   * end of the stream, packets can be sent again. */
  void (*flush)(bulkhead_decoder* decoder);
  void (*close)(bulkhead_decoder* decoder);
  /* Returns the sentence about the last failure. `decoder` is NULL after a
   * failed open or enumerate_devices. The string stays valid until the next
   * call. */
  const char* (*last_error)(bulkhead_decoder* decoder);
  /* The kinds of streams that the backend decodes: bits of BULKHEAD_DECODES_*.
   * 0, which is also the value of a backend older than this field, means video.
   * The runtime calls open for no other kind. */
  uint32_t stream_kinds;
} bulkhead_backend;

typedef const bulkhead_backend* (*bulkhead_backend_entry)(void);

#ifdef __cplusplus
}
#endif
