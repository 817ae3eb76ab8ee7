/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * bulkhead_backend.h as it was before capabilities and the range of versions,
 * without its comments. Vendors built backends against it, which have to load
 * and decode for good: it never changes.
 */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BULKHEAD_ABI_VERSION 1u

#define BULKHEAD_NO_TIMESTAMP INT64_MIN

#define BULKHEAD_MAX_PLANES 4

typedef enum bulkhead_result {
  BULKHEAD_OK = 0,
  BULKHEAD_AGAIN = 1,
  BULKHEAD_END_OF_STREAM = 2,
  BULKHEAD_BAD_INPUT = 3,
  BULKHEAD_UNSUPPORTED = 4,
  BULKHEAD_OUT_OF_MEMORY = 5,
  BULKHEAD_DEVICE_LOST = 6,
  BULKHEAD_FAILED = 7
} bulkhead_result;

typedef struct bulkhead_rational {
  int32_t numerator;
  int32_t denominator;
} bulkhead_rational;

typedef struct bulkhead_option {
  const char* key;
  const char* value;
} bulkhead_option;

enum { BULKHEAD_STREAM_VIDEO = 0, BULKHEAD_STREAM_AUDIO = 1 };

enum {
  BULKHEAD_DECODES_VIDEO = 1u << BULKHEAD_STREAM_VIDEO,
  BULKHEAD_DECODES_AUDIO = 1u << BULKHEAD_STREAM_AUDIO
};

typedef struct bulkhead_side_data {
  const char* kind;
  const uint8_t* data;
  size_t bytes;
} bulkhead_side_data;

typedef struct bulkhead_codec_parameters {
  uint32_t size;
  const char* codec;
  uint32_t codec_tag;
  const uint8_t* extradata;
  size_t extradata_bytes;
  int32_t width;
  int32_t height;
  const char* pixel_format;
  int32_t profile;
  int32_t level;
  int32_t bits_per_coded_sample;
  int32_t bits_per_raw_sample;
  int64_t bit_rate;
  int32_t field_order;
  int32_t video_delay;
  int32_t chroma_location;
  int32_t color_range;
  int32_t color_primaries;
  int32_t color_transfer;
  int32_t color_space;
  bulkhead_rational sample_aspect_ratio;
  bulkhead_rational time_base;
  bulkhead_rational frame_rate;
  const bulkhead_side_data* side_data;
  size_t side_data_count;
  uint32_t stream_kind;
  const char* sample_format;
  int32_t sample_rate;
  int32_t channels;
  uint64_t channel_mask;
  int32_t block_align;
  int32_t frame_size;
  int32_t initial_padding;
  int32_t trailing_padding;
  int32_t seek_preroll;
} bulkhead_codec_parameters;

enum {
  BULKHEAD_PACKET_KEYFRAME = 1u << 0,
  BULKHEAD_PACKET_CORRUPT = 1u << 1,
  BULKHEAD_PACKET_DISCARD = 1u << 2
};

typedef struct bulkhead_packet {
  uint32_t size;
  uint32_t flags;
  const uint8_t* data;
  size_t bytes;
  int64_t pts;
  int64_t dts;
  int64_t duration;
  int64_t position;
  const bulkhead_side_data* side_data;
  size_t side_data_count;
} bulkhead_packet;

typedef struct bulkhead_buffer_request {
  uint32_t size;
  const char* pixel_format;
  int32_t width;
  int32_t height;
  uint32_t alignment;
  uint32_t padding;
} bulkhead_buffer_request;

typedef struct bulkhead_buffer {
  uint32_t size;
  uint32_t plane_count;
  void* handle;
  uint8_t* data[BULKHEAD_MAX_PLANES];
  int32_t stride[BULKHEAD_MAX_PLANES];
  size_t bytes[BULKHEAD_MAX_PLANES];
} bulkhead_buffer;

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
  int32_t color_range;
  int32_t color_primaries;
  int32_t color_transfer;
  int32_t color_space;
  int32_t chroma_location;
  bulkhead_rational sample_aspect_ratio;
  int32_t has_display_matrix;
  int32_t display_matrix[9];
  void* buffer;
  void* private_data;
  const char* sample_format;
  int32_t sample_rate;
  int32_t channels;
  uint64_t channel_mask;
  int32_t sample_count;
  const uint8_t* const* planes;
  int32_t damaged;
  int32_t met_error;
} bulkhead_frame;

typedef struct bulkhead_device {
  uint32_t size;
  const char* name;
  const char* description;
} bulkhead_device;

typedef struct bulkhead_runtime {
  uint32_t size;
  uint32_t abi_version;
  void* context;
  bulkhead_result (*acquire_buffer)(void* context,
                                    const bulkhead_buffer_request* request,
                                    bulkhead_buffer* buffer);
  void (*reference_buffer)(void* context, void* handle);
  void (*release_buffer)(void* context, void* handle);
  void (*log)(void* context, const char* line);
} bulkhead_runtime;

typedef struct bulkhead_open_parameters {
  uint32_t size;
  uint32_t device;
  const bulkhead_codec_parameters* codec;
  uint32_t threads;
  uint32_t incarnation;
  const bulkhead_option* options;
  size_t option_count;
  uint64_t max_frame_pixels;
  uint32_t ignore_errors;
} bulkhead_open_parameters;

typedef struct bulkhead_decoder bulkhead_decoder;

typedef struct bulkhead_backend {
  uint32_t size;
  uint32_t abi_version;
  const char* name;
  const char* version;
  bulkhead_result (*enumerate_devices)(const bulkhead_runtime* runtime,
                                       void (*emit)(void* emit_context,
                                                    const bulkhead_device*),
                                       void* emit_context);
  bulkhead_result (*open)(const bulkhead_open_parameters* parameters,
                          const bulkhead_runtime* runtime,
                          bulkhead_decoder** decoder);
  bulkhead_result (*send_packet)(bulkhead_decoder* decoder,
                                 const bulkhead_packet* packet);
  bulkhead_result (*receive_frame)(bulkhead_decoder* decoder,
                                   bulkhead_frame* frame);
  void (*release_frame)(bulkhead_decoder* decoder, bulkhead_frame* frame);
  void (*flush)(bulkhead_decoder* decoder);
  void (*close)(bulkhead_decoder* decoder);
  const char* (*last_error)(bulkhead_decoder* decoder);
  uint32_t stream_kinds;
} bulkhead_backend;

typedef const bulkhead_backend* (*bulkhead_backend_entry)(void);

#ifdef __cplusplus
}
#endif
