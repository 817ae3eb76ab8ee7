// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bulkhead {

// What media files say of themselves. A sandboxed worker read it: plausible,
// bounded, printable, but only as true as the file. Values.

struct Ratio {
  int32_t numerator = 0;
  int32_t denominator = 0;  // 0: unknown
  double value() const {
    return denominator ? static_cast<double>(numerator) / denominator : 0;
  }
};

// When a stream is shown, and how much of it there is: what the header claims,
// what its packets turned out to be, and the best of both.
struct StreamTiming {
  // nullopt: the header does not tell.
  std::optional<double> begin_seconds_from_header;
  std::optional<double> duration_seconds_from_header;
  std::optional<uint64_t> frame_count_from_header;

  // By a scan of all packets; nullopt: there was none, or they do not tell.
  // Packets that the container marks as not to be shown do not count.
  std::optional<double> begin_seconds_from_content;
  std::optional<double> end_seconds_from_content;
  std::optional<uint64_t> frame_count_from_content;

  // From the content, else as follows; nullopt: nothing tells.
  double begin_seconds = 0;  // header, else 0
  // End of the content less its beginning; header; frames by the header and
  // their rate; that of the container.
  std::optional<double> duration_seconds;
  std::optional<double> end_seconds;    // begin and duration
  std::optional<uint64_t> frame_count;  // header; duration and frame rate
  std::optional<double> average_fps;    // frames and duration of the content;
                                        // header
};

enum class StreamKind {
  kUnknown,
  kVideo,
  kAudio,
  kSubtitle,
  kData,
  kAttachment,
};
// "video", "audio" and so on. Static storage.
const char* StreamKindName(StreamKind kind);

// One stream of a container. Texts that do not apply or are not told are empty,
// numbers 0.
struct StreamMetadata : StreamTiming {
  int index = 0;
  StreamKind kind = StreamKind::kUnknown;
  std::string codec;
  std::string profile;
  std::string language;
  std::string title;
  bool is_default = false;
  bool is_cover = false;  // a picture that goes with the file, not a video
  Ratio time_base;
  std::optional<int64_t> bit_rate;

  // Of video.
  uint32_t width = 0;  // after rotation
  uint32_t height = 0;
  int rotation = 0;  // degrees counter-clockwise that are applied
  Ratio sample_aspect_ratio;
  Ratio average_frame_rate;  // by the header
  Ratio base_frame_rate;     // by which every timestamp can be told: a guess
  std::string pixel_format;
  // Code points of ITU-T H.273 (2: unspecified); range 1 limited, 2 full.
  int color_primaries = 2;
  int color_transfer = 2;
  int color_space = 2;
  int color_range = 0;

  // Of audio.
  std::string sample_format;
  uint32_t sample_rate = 0;
  uint32_t channels = 0;
  std::string channel_layout;
};

struct ContainerMetadata {
  std::string format;
  std::string title;
  std::optional<double> begin_seconds;
  std::optional<double> duration_seconds;
  std::optional<int64_t> bit_rate;
  // As FFmpeg chooses among several; nullopt: there is none. (Decoders are
  // given the first unless VideoOptions::stream_index says otherwise.)
  std::optional<int> best_video_stream;
  std::optional<int> best_audio_stream;
  std::vector<StreamMetadata> streams;  // by index
};

// An object whose names are those of the members; what is not known is null.
std::string ToJson(const ContainerMetadata& metadata);

}  // namespace bulkhead
