/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The C ABI between Bulkhead's worker and a decoding backend.
 *
 * A backend is a shared object that exports one function of type
 * bulkhead_backend_entry. The Python entry point of its package, `name =
 * module:attr`, names that function (attr). Bulkhead loads the object into a
 * sandboxed process of its own, never into the application.
 *
 *     static const bulkhead_backend kBackend = {
 *         .size = sizeof(bulkhead_backend),
 *         .abi_version = BULKHEAD_ABI_VERSION,
 *         .name = "acme", .version = "1.2",
 *         .enumerate_devices = acme_enumerate_devices, ...};
 *     const bulkhead_backend* acme_backend(void) { return &kBackend; }
 *
 * The pages beside this file: README.md (where to begin), packaging.md (files,
 * bulkhead.toml), environment.md (processes, files, libraries, signals, logs,
 * options) and clauses.md (how each clause is checked).
 *
 * Each rule is a clause: an id in brackets and its sentences. Errors and the
 * conformance suite name the id. An id keeps its meaning in all releases; the
 * id of a clause that was given up is not used again.
 *
 * Results. OK, AGAIN and so on are short for BULKHEAD_OK, BULKHEAD_AGAIN ...
 * [result-1] A call returns only the results that its clauses name.
 * [result-2] After a failure (any result but OK, AGAIN and END_OF_STREAM),
 *   last_error returns a sentence that describes the problem for people.
 * [result-3] A backend that breaks a clause loses its worker, and the caller of
 *   the stream gets an error that names the backend, the clause and the place
 *   in the file.
 * [result-4] A call returns within the deadline of its step, by default 10 s
 * for a frame. If the call takes longer, its process is killed.
 *
 * Life of a backend. The entry function runs in a process called the zygote,
 * which never sees media. The zygote is then cloned, as by fork(). One
 * short-lived clone calls enumerate_devices. Each stream gets a clone of its
 * own, which calls open and decodes that stream (environment.md has other
 * ways).
 * [life-1] The entry function returns the backend's table, never NULL. The
 *   table and what it refers to stay valid and unchanged until the process
 *   ends.
 * [life-2] The entry function starts no thread and initializes no driver:
 *   threads and most drivers do not survive the cloning. enumerate_devices,
 *   open and later calls may do both.
 * [life-3] From open on, the process can open no file and start no process, but
 *   it can start threads. The entry function opens the files that it needs.
 * [life-4] The same packets give the same pictures in each process and with any
 *   number of threads. After a crash the runtime decodes the stream again and
 *   compares the pictures.
 * [life-5] No packet ends the process, not even a damaged or hostile one.
 *
 * Threads.
 * [thread-1] The runtime calls the functions of one decoder one at a time and
 *   on one thread.
 * [thread-2] With worker_scope = "backend" the runtime may call open and the
 *   functions of different decoders at the same time. It calls last_error(NULL)
 *   on the thread of the failed open.
 * [thread-3] The backend may call the services in bulkhead_runtime from any of
 *   its threads.
 * [thread-4] No C++ exception and no longjmp leaves a function of the backend.
 *
 * Versions.
 * [abi-1] Each struct begins with its size in bytes, set by the side that fills
 *   the struct; the reader treats fields after that size as zero.
 * [abi-2] A struct for the other side to fill in (bulkhead_buffer,
 *   bulkhead_frame) is passed with `size` set to the size of its memory, and is
 *   returned with `size` set to the part that was filled.
 * [abi-3] New releases only append fields. The version changes when the meaning
 *   of a field or a function changes.
 * [abi-4] A backend serves the versions from min_abi_version to abi_version,
 *   the runtime those from BULKHEAD_ABI_MIN_VERSION to BULKHEAD_ABI_VERSION.
 *   The version in force, bulkhead_runtime.abi_version, is the newest that both
 *   serve. If there is none, the backend is not used, and the error names both
 *   ranges.
 * [abi-5] An optional function is appended to a struct and may be NULL. Neither
 *   side needs to ask for extensions by name.
 *
 * Texts.
 * [text-1] Strings are UTF-8 and NUL-terminated. No string and no other pointer
 *   is NULL unless a comment says so.
 * [text-2] Names of codecs and of pixel and sample formats are those that
 *   FFmpeg prints ("h264", "yuv420p10le", "fltp").
 */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BULKHEAD_ABI_VERSION 1u
#define BULKHEAD_ABI_MIN_VERSION 1u

/* The value of an unknown timestamp. */
#define BULKHEAD_NO_TIMESTAMP INT64_MIN

#define BULKHEAD_MAX_PLANES 4

/* The value of bulkhead_capability.profile that stands for all profiles. */
#define BULKHEAD_ALL_PROFILES (-1)

typedef enum bulkhead_result {
  BULKHEAD_OK = 0,
  /* [again-1] From send_packet: the packet was not taken; the runtime receives
   *   frames first, then sends the same packet again.
   * [again-2] From receive_frame before the end was sent: the decoder needs
   *   another packet first. After the end was sent: the next frame is not ready
   *   yet, and the runtime asks again.
   * [again-3] A busy decoder may return AGAIN from both functions, but not for
   *   half of the deadline of a frame (or of opening or seeking, if that is
   *   shorter): by default 5 s. */
  BULKHEAD_AGAIN = 1,
  /* [end-1] Only from receive_frame, and only after the end was sent: there are
   *   no more frames. Until a flush, further calls return the same. */
  BULKHEAD_END_OF_STREAM = 2,
  /* [bad-1] From send_packet: this packet is damaged and dropped; the next one
   *   may decode.
   * [bad-2] From receive_frame: a packet that was sent is damaged. The result
   *   does not name the packet: the runtime finds it by its missing frame.
   * [bad-3] Not without end: a damaged packet gives BAD_INPUT at most a few
   *   times. The runtime ends the stream if receive_frame returns BAD_INPUT
   *   65,536 times in a row, while no frame comes and no packet is taken. */
  BULKHEAD_BAD_INPUT = 3,
  /* [unsupported-1] From open: the device does not decode this codec, profile
   *   or size, does not exist, or does not know an option.
   * [unsupported-2] From send_packet and receive_frame: the stream continues
   *   with something that the device does not decode. The runtime ends it. */
  BULKHEAD_UNSUPPORTED = 4,
  /* [memory-1] From each function that returns a result: there is no memory, or
   *   the picture exceeds a limit that the application has set. The runtime
   *   ends the stream. */
  BULKHEAD_OUT_OF_MEMORY = 5,
  /* [lost-1] The device is gone; the stream is opened again in a new process.
   */
  BULKHEAD_DEVICE_LOST = 6,
  /* [failed-1] The backend failed, and the file is not the cause. The stream is
   *   opened again in a new process, and is given up after a few failures. */
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
 * name of the packet side data type ("Palette", "New Extradata"). Ignore kinds
 * that you do not know. */
typedef struct bulkhead_side_data {
  const char* kind;
  const uint8_t* data;
  size_t bytes;
} bulkhead_side_data;

/* Properties of the stream that the container declares. A field without a
 * comment has its meaning in FFmpeg's AVCodecParameters.
 * [codec-1] The struct and all that it refers to are valid during the call of
 *   open only.
 * [codec-2] The container may be wrong or hostile: its values are not checked
 *   against the stream.
 * [codec-3] extradata and packets are framed as FFmpeg's demuxers give them.
 *   H.264 and HEVC: if extradata is an avcC or hvcC record (its first byte is
 *   1), each NAL unit of a packet stands after its length; otherwise packets
 *   are in Annex B format. AV1: extradata is empty, an av1C record (its first
 *   byte is 0x81) or OBUs; a packet is one temporal unit of OBUs with sizes,
 *   without an av1C record. */
typedef struct bulkhead_codec_parameters {
  uint32_t size;
  const char* codec;
  uint32_t codec_tag;
  const uint8_t* extradata; /* NULL if there is none */
  size_t extradata_bytes;
  int32_t width; /* 0 if unknown */
  int32_t height;
  const char* pixel_format; /* NULL if unknown */
  int32_t profile;          /* FFmpeg's number; -99 if unknown */
  int32_t level;            /* FFmpeg's number; -99 if unknown */
  int32_t bits_per_coded_sample;
  int32_t bits_per_raw_sample;
  int64_t bit_rate;
  /* [color-1] field_order: 0 unknown, 1 progressive, 2 top field coded and
   *   shown first, 3 bottom field coded and shown first, 4 top coded first and
   *   bottom shown first, 5 bottom coded first and top shown first. */
  int32_t field_order;
  int32_t video_delay;
  /* [color-2] chroma_location: 0 unknown, 1 left, 2 center, 3 top left, 4 top,
   *   5 bottom left, 6 bottom (one more than in ITU-T H.273). */
  int32_t chroma_location;
  /* [color-3] color_range: 0 unknown, 1 limited, 2 full. The three fields after
   *   it are code points of ITU-T H.273, in which 2 means unknown. */
  int32_t color_range;
  int32_t color_primaries;
  int32_t color_transfer;
  int32_t color_space;
  bulkhead_rational sample_aspect_ratio;
  bulkhead_rational time_base; /* the unit, in seconds, of all timestamps */
  /* The average rate, in frames per second. */
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

/* One packet. Packets come in decoding order.
 * [packet-1] The struct and all that it refers to are valid during the call of
 *   send_packet only.
 * [packet-2] 64 readable zero bytes follow the `bytes` bytes at `data`. `bytes`
 *   may be 0; such a packet has no frame. */
typedef struct bulkhead_packet {
  uint32_t size;
  uint32_t flags;
  const uint8_t* data;
  size_t bytes;
  int64_t pts;
  int64_t dts;
  int64_t duration; /* 0 if unknown */
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

/* Memory for one picture.
 * [buffer-1] If the format has two planes of chroma (1 and 2), stride[1] =
 *   stride[2], and stride[0] / stride[1] = plane 0's width / plane 1's width.
 */
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
 * [frame-1] A picture has a width, a height and a pixel format that FFmpeg
 *   knows, and lies in host memory.
 * [frame-2] A picture has at least the planes of the pixel format, none of them
 *   NULL. A palette, if the pixel format has one, is the second plane.
 * [frame-3] A stride is the number of bytes from one row to the next, below 0
 *   if the rows lie upside down. Its magnitude is not less than the bytes of a
 *   row.
 * [frame-4] The planes lie in the buffer from acquire_buffer that `buffer`
 *   names, or in memory of the backend, with `buffer` NULL.
 * [frame-5] The planes stay unchanged until release_frame. Bulkhead may read
 *   them while the decoder is in another call.
 * [frame-6] pts is that of the frame's packet, in the time base of the stream,
 *   or the best estimate if the packet has none. The runtime finds the packet
 *   by this pts.
 * [frame-7] Audio has a sample format that FFmpeg knows, a rate, channels and
 *   planes. It has only the samples that are to be heard: leave out the
 *   encoder's padding that the side data "Skip Samples" of a packet names.
 * [frame-10] The picture equals, bit for bit, the picture of FFmpeg's decoder
 *   of the codec. The specifications of today's codecs ask for that.
 * [frame-11] duration, interlaced, top_field_first and sample_aspect_ratio are
 *   those that FFmpeg's decoder of the codec gives. */
typedef struct bulkhead_frame {
  uint32_t size;
  const char* pixel_format;
  int32_t width;
  int32_t height;
  uint32_t plane_count;
  uint8_t* data[BULKHEAD_MAX_PLANES];
  int32_t stride[BULKHEAD_MAX_PLANES];
  int64_t pts;
  int64_t duration;
  int32_t keyframe;
  int32_t interlaced;
  int32_t top_field_first;
  /* The colors have values as in bulkhead_codec_parameters: [color-2],
   * [color-3]. */
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
  /* One plane for each channel if the format is planar, else a single plane. */
  const uint8_t* const* planes;
  /* [frame-8] damaged is 1 if parts of the picture are invented, because its
   *   packet was damaged or a picture that it refers to is missing. */
  int32_t damaged;
  /* [frame-9] met_error is 1 if the decoder, since the previous frame, met an
   *   error in a packet and no call returned BAD_INPUT for it. The frame itself
   *   may be sound. The runtime then suspects every packet whose frame has not
   *   come out yet. It holds back a frame that may refer to such a packet until
   *   that packet's frame has come out or is known to be lost. This matters for
   *   B-frames, which are displayed before a frame that they refer to. */
  int32_t met_error;
} bulkhead_frame;

/* One kind of stream that a device decodes. */
typedef struct bulkhead_capability {
  uint32_t size;
  uint32_t stream_kind; /* one of BULKHEAD_STREAM_* */
  const char* codec;
  int32_t profile; /* FFmpeg's number, or BULKHEAD_ALL_PROFILES */
  /* The largest picture; 0 if the device has no limit of its own. */
  int32_t max_width;
  int32_t max_height;
  /* The pixel or sample formats of the frames. format_count is 0 if the device
   * does not say; formats may then be NULL. */
  const char* const* formats;
  size_t format_count;
} bulkhead_capability;

/* The bits of bulkhead_device.outputs: where the planes of frames may lie. */
enum {
  BULKHEAD_OUTPUT_OWN_MEMORY = 1u << 0,
  BULKHEAD_OUTPUT_RUNTIME_BUFFERS = 1u << 1
};

/* One device of the backend.
 * [device-1] The struct and all that it refers to are valid during the call of
 *   emit only.
 * [device-2] Each process enumerates the same devices in the same order.
 * [device-3] A device that has capabilities decodes nothing else: open returns
 *   UNSUPPORTED for another stream. If no device of a backend has a capability
 *   for a stream, the runtime does not start the backend for it, and the error
 *   names the devices that decode the stream. A device without capabilities
 *   may decode anything.
 * [device-4] A device decodes each stream that its capabilities state: open
 *   returns UNSUPPORTED for such a stream only because of an option. */
typedef struct bulkhead_device {
  uint32_t size;
  /* One of the device names in bulkhead.toml. Several devices may have the same
   * name; the runtime numbers them. */
  const char* name;
  const char* description; /* a few words for people, or NULL */
  /* The elements lie capabilities[0].size bytes apart. Several may name one
   * codec. May be NULL if capability_count is 0. */
  const bulkhead_capability* capabilities;
  size_t capability_count;
  /* The largest number of sessions at once; 0 if the device has no limit. The
   * runtime shows the number to operators, and does not enforce it. */
  uint32_t max_sessions;
  uint32_t outputs; /* bits of BULKHEAD_OUTPUT_*; 0: unknown */
} bulkhead_device;

/* The runtime's services for the backend.
 * [runtime-1] The struct passed to open is valid until close, and the one
 *   passed to enumerate_devices during that call. No function in it is NULL.
 * [acquire-1] acquire_buffer fills *buffer and returns OK; the backend then
 *   owns one reference to the buffer. UNSUPPORTED: the runtime has no buffers
 *   for such a picture; decode into memory of the backend. OUT_OF_MEMORY: the
 *   session's memory is used up; return OUT_OF_MEMORY, too. FAILED: the request
 *   is not valid.
 * [acquire-2] As long as the backend holds a reference, the runtime does not
 *   reuse the buffer, even after a picture in it has been published. After the
 *   publication the backend may read the buffer, but must not write to it.
 * [acquire-3] reference_buffer adds a reference, and release_buffer gives one
 *   back. Before close returns, the backend has given back each reference.
 * [log-1] log writes one line to the stderr of this process. The record of a
 *   crash keeps the last lines for operators (`bulkhead crashes show N`).
 *   Vendors see only lines that were written before the process got media. Long
 *   lines are cut, and lines are left out if there are many. Output to stdout
 *   is lost. */
typedef struct bulkhead_runtime {
  uint32_t size;
  uint32_t abi_version; /* the version in force: [abi-4] */
  void* context;        /* pass this as the first argument of every service */
  bulkhead_result (*acquire_buffer)(void* context,
                                    const bulkhead_buffer_request* request,
                                    bulkhead_buffer* buffer);
  void (*reference_buffer)(void* context, void* handle);
  void (*release_buffer)(void* context, void* handle);
  void (*log)(void* context, const char* line);
} bulkhead_runtime;

/* The stream and the settings of a decoder to open. The struct and all that it
 * refers to are valid during the call of open only. */
typedef struct bulkhead_open_parameters {
  uint32_t size;
  uint32_t device; /* the index of the device in enumerate_devices' order */
  const bulkhead_codec_parameters* codec;
  uint32_t threads; /* the number of threads; 0: the backend chooses */
  /* The number of workers that this session has had: 1 in the first worker, and
   * more after a crash. */
  uint32_t incarnation;
  /* [open-3] Options come from the application as it wrote them
   *   (VideoOptions::backend_options, `--option KEY=VALUE`), with values that
   *   nobody has checked. Return UNSUPPORTED for an unknown key. Keys that
   *   begin with "bulkhead." are for the runtime, and are not passed on. */
  const bulkhead_option* options;
  size_t option_count;
  /* [open-4] The limit on the pixels of a picture; 0 means no limit. The call
   *   that meets a larger picture returns OUT_OF_MEMORY. */
  uint64_t max_frame_pixels;
  /* 1: continue after errors that can be ignored, like ffmpeg with -err_detect
   * ignore_err; pictures with invented parts must still be marked
   * (bulkhead_frame.damaged). 0: be as strict as ffmpeg is by default. */
  uint32_t ignore_errors;
} bulkhead_open_parameters;

typedef struct bulkhead_decoder bulkhead_decoder;

typedef struct bulkhead_backend {
  uint32_t size;
  /* The newest version that the backend serves: the BULKHEAD_ABI_VERSION of the
   * header that it was built with. */
  uint32_t abi_version;
  const char* name;
  const char* version;
  /* [enumerate-1] Calls `emit` once for each device, with `emit_context`.
   *   Results: OK, OUT_OF_MEMORY, DEVICE_LOST, FAILED. */
  bulkhead_result (*enumerate_devices)(const bulkhead_runtime* runtime,
                                       void (*emit)(void* emit_context,
                                                    const bulkhead_device*),
                                       void* emit_context);
  /* Opens a decoder for one stream.
   * [open-1] On success *decoder is the backend's object, not NULL, which the
   *   runtime passes to the functions below until close. After a failure there
   *   is nothing to close.
   * [open-2] Results: OK, BAD_INPUT, UNSUPPORTED, OUT_OF_MEMORY, DEVICE_LOST,
   *   FAILED. */
  bulkhead_result (*open)(const bulkhead_open_parameters* parameters,
                          const bulkhead_runtime* runtime,
                          bulkhead_decoder** decoder);
  /* [send-1] Takes one packet. After AGAIN the packet was not taken, and the
   *   same packet comes again. After BAD_INPUT it was dropped.
   * [send-2] A packet gives at most one frame. If several frames have its
   *   timestamp, only the first counts.
   * [send-3] By the end of the stream each packet that shows a picture has
   *   given its frame, or BAD_INPUT was returned for it.
   * [send-4] NULL marks the end of the stream; receive_frame then returns the
   *   remaining frames, and END_OF_STREAM after the last one. A second NULL
   *   changes nothing. No packet follows before a flush.
   * [send-5] Results: OK, AGAIN, BAD_INPUT, UNSUPPORTED, OUT_OF_MEMORY,
   *   DEVICE_LOST, FAILED. After the last four the runtime closes the decoder.
   */
  bulkhead_result (*send_packet)(bulkhead_decoder* decoder,
                                 const bulkhead_packet* packet);
  /* [receive-1] Fills *frame with the next frame in display order: each pts is
   *   greater than the one before.
   * [receive-2] Fills *frame only if it returns OK. The runtime may hold any
   *   number of frames at once.
   * [receive-3] Results: OK, AGAIN, END_OF_STREAM, BAD_INPUT, UNSUPPORTED,
   *   OUT_OF_MEMORY, DEVICE_LOST, FAILED. After the last four the runtime
   *   closes the decoder. */
  bulkhead_result (*receive_frame)(bulkhead_decoder* decoder,
                                   bulkhead_frame* frame);
  /* [release-1] Takes a frame back. Called once for every received frame, in
   *   any order, possibly after a flush, and always before close.
   * [release-2] *frame has the contents that receive_frame filled in, but may
   *   lie at another address. */
  void (*release_frame)(bulkhead_decoder* decoder, bulkhead_frame* frame);
  /* [flush-1] Drops all packets and all frames not yet received, before a seek.
   *   Frames that were received stay valid until release_frame.
   * [flush-2] After the end of the stream, packets can be sent again. */
  void (*flush)(bulkhead_decoder* decoder);
  /* [close-1] Frees the decoder, at any time after open. Each frame was
   *   released before. When close returns, no thread of the decoder is left. */
  void (*close)(bulkhead_decoder* decoder);
  /* [error-1] Returns the sentence about the last failure, or NULL. `decoder`
   *   is NULL after a failed open or enumerate_devices. The string stays valid
   *   until the next call of a function for the same decoder. The runtime
   *   copies the beginning, and shows it as the backend's words. */
  const char* (*last_error)(bulkhead_decoder* decoder);
  /* The kinds of streams that the backend decodes: bits of BULKHEAD_DECODES_*.
   * 0, which is also the value of a backend older than this field, means video.
   * The runtime calls open for no other kind. */
  uint32_t stream_kinds;
  /* The oldest version that the backend serves. 0, which is also the value of a
   * backend older than this field, means that it serves abi_version only. */
  uint32_t min_abi_version;
} bulkhead_backend;

typedef const bulkhead_backend* (*bulkhead_backend_entry)(void);

#ifdef __cplusplus
}
#endif
