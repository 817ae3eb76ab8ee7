// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/host.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/application/decoding/selection.h"
#include "core/application/writers/output_pattern.h"

namespace bulkhead::decoding {

// A half-open range of time in seconds. Either bound may be absent.
struct TimeRange {
  std::optional<double> start;
  std::optional<double> stop;
  bool operator==(const TimeRange&) const = default;
};

// Says what DecodeFile() or DecodeAudio() does with one file. A value type.
struct Job {
  std::string file;  // The name of the input, for messages.
  VideoOptions video;
  std::optional<Slice> slice;                   // --frames
  std::optional<std::vector<int64_t>> indices;  // --at
  std::optional<TimeRange> times;               // --times
  std::optional<Ratio> fps;                     // --fps
  std::optional<AudioOptions> audio;  // If set, decodes audio, not video.
  // "png", "rawvideo", "y4m", "framemd5", "npy" or "null"; for audio "wav",
  // "f32le" or "null".
  std::string format;
  std::string output;  // The output of this file; "-" is stdout.
  // Parsed from `output` if each frame gets a file.
  writers::OutputPattern pattern;
  bool several = false;  // The user named several files.

  // Returns true if the user chose a part of the frames, or a frame rate.
  bool chosen() const { return slice || indices || times || fps; }
  // Returns true if the frames share no output file: each frame gets a file of
  // its own, or nothing is written.
  bool WritesFilesOfItsOwn() const {
    return format == "null" || (format == "png" && output != "-");
  }
};

}  // namespace bulkhead::decoding
