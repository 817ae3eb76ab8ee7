// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "backends/sdk/bulkhead_backend.h"
#include "backends/worker/media/demux/orientation.h"

struct AVFormatContext;
struct AVStream;

namespace bulkhead::worker::demux {

// Properties of one stream that the container declares. The worker sends them
// to the host in the schema's Opened or OpenedAudio. The file is hostile, so
// any value may be wrong.
struct StreamFacts {
  int32_t stream_index = -1;
  int32_t stream_id = 0;  // the container's own number of the stream
  uint32_t stream_count = 0;
  std::string codec;
  std::string pixel_format;  // may be empty
  std::string container;
  // The size after rotation; 0 where only the bitstream declares the size.
  uint32_t width = 0;
  uint32_t height = 0;
  Orientation orientation;
  bulkhead_rational time_base{};
  bulkhead_rational average_frame_rate{};
  bulkhead_rational base_frame_rate{};
  bulkhead_rational sample_aspect_ratio{};   // of the pixels after rotation
  uint64_t frame_count = 0;                  // 0 if not declared
  int64_t duration = BULKHEAD_NO_TIMESTAMP;  // in the time base
  // The duration of the whole container.
  int64_t container_microseconds = BULKHEAD_NO_TIMESTAMP;
  // True if no header has the durations, so that both were estimated from the
  // size of the file and the bit rate.
  bool is_duration_estimated = false;
  int64_t start = BULKHEAD_NO_TIMESTAMP;  // in the time base
  int64_t bit_rate = 0;                   // bits per second
  // These five are as in bulkhead_codec_parameters.
  int32_t color_primaries = 2;
  int32_t color_transfer = 2;
  int32_t color_space = 2;
  int32_t color_range = 0;
  int32_t chroma_location = 0;
  // The reorder delay: the most pictures that a decoder holds back so as to
  // give them in display order.
  int32_t video_delay = 0;
};

// Returns the facts of `stream`, which belongs to `format`.
StreamFacts StreamFactsOf(const AVFormatContext& format,
                          const AVStream& stream);

}  // namespace bulkhead::worker::demux
