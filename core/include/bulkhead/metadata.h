// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bulkhead {

// The metadata of a media file. A sandboxed worker read these values:
// the host has checked that they are plausible, bounded and printable, but they
// are only as true as the file. All types are plain values.

// A fraction, as containers store rates and time bases.
struct Ratio {
  int32_t numerator = 0;
  int32_t denominator = 0;  // 0: unknown
  // Returns the fraction as a number, 0 if unknown.
  double value() const {
    return denominator ? static_cast<double>(numerator) / denominator : 0;
  }
};

// The time span and the number of frames of a stream: according to the header,
// according to the packets, and the best of both. The best is chosen by
// torchcodec's rules. Times are in seconds.
struct StreamTiming {
  // Values of the header; nullopt if the header does not have them.
  std::optional<double> begin_seconds_from_header;
  std::optional<double> duration_seconds_from_header;
  // Includes the empty chunks by which AVI shows a frame longer, as ffprobe's
  // nb_frames does. The count from the content leaves them out.
  std::optional<uint64_t> frame_count_from_header;

  // Values from a scan of all packets; nullopt if there was no scan or if the
  // packets do not have them. Packets that the container marks as hidden do not
  // count.
  std::optional<double> begin_seconds_from_content;
  std::optional<double> end_seconds_from_content;
  std::optional<uint64_t> frame_count_from_content;

  // The best known values. Each is taken from the content. If the content does
  // not have it, the sources in the member's comment are tried in their order.
  // nullopt if none has it.
  double begin_seconds = 0;  // The header, or 0.
  // The header; the frame count of the header / its frame rate; the duration of
  // the container.
  std::optional<double> duration_seconds;
  std::optional<double> end_seconds;    // begin_seconds + duration_seconds.
  std::optional<uint64_t> frame_count;  // The header; duration * frame rate.
  std::optional<double> average_fps;    // The header.
};

enum class StreamKind {
  kUnknown,
  kVideo,
  kAudio,
  kSubtitle,
  kData,
  kAttachment,
};
// Returns "video", "audio" and so on. The string has static storage.
const char* StreamKindName(StreamKind kind);

// One stream of a container. Strings that do not apply or are unknown are
// empty, numbers are 0.
struct StreamMetadata : StreamTiming {
  int index = 0;
  StreamKind kind = StreamKind::kUnknown;
  std::string codec;
  std::string profile;
  std::string language;
  std::string title;
  bool is_default = false;
  bool is_cover = false;            // A still picture, such as an album cover.
  Ratio time_base;                  // Seconds per tick of a timestamp.
  std::optional<int64_t> bit_rate;  // Bits per second.

  // The following members describe a video stream.
  uint32_t width = 0;  // In pixels, after rotation.
  uint32_t height = 0;
  // The way to turn the decoder's pictures upright, as in VideoMetadata.
  int rotation = 0;
  bool vertical_flip = false;
  Ratio sample_aspect_ratio;
  Ratio average_frame_rate;  // From the header.
  // FFmpeg's guess at the lowest rate that can express every timestamp.
  Ratio base_frame_rate;
  std::string pixel_format;
  // Code points of ITU-T H.273; 2 means unspecified.
  int color_primaries = 2;
  int color_transfer = 2;
  int color_space = 2;
  int color_range = 0;  // 1 is limited, 2 is full, 0 is unspecified.

  // The following members describe an audio stream.
  std::string sample_format;
  uint32_t sample_rate = 0;  // In Hz.
  uint32_t channels = 0;
  std::string channel_layout;
};

// A media file and all of its streams.
struct ContainerMetadata {
  std::string format;
  std::string title;
  std::optional<double> begin_seconds;
  std::optional<double> duration_seconds;
  std::optional<int64_t> bit_rate;  // Bits per second.
  // The index of the stream that FFmpeg prefers if there are several; nullopt
  // if there is no stream of the kind. Decoders open the first stream instead,
  // unless VideoOptions::stream_index or stream_choice names another.
  std::optional<int> best_video_stream;
  std::optional<int> best_audio_stream;
  std::vector<StreamMetadata> streams;  // In the order of their index.
};

// Returns a JSON object with the names of the members; unknown values are null.
std::string ToJson(const ContainerMetadata& metadata);

}  // namespace bulkhead
