// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/host.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/cli/decode/output_words.h"
#include "tools/cli/decode/selection.h"
#include "tools/cli/writers/output_pattern.h"

namespace bulkhead::cli {

// The arguments of `bulkhead decode` as typed. An empty string means that the
// option is absent.
struct DecodeOptions {
  std::vector<std::string> files;
  VideoOptions video;
  // The options --resize and --crop as typed, such as "--resize 340x256", in
  // the order of video.transforms.
  std::vector<std::string> transform_words;
  std::string frames;
  std::string at;
  std::string times;
  std::string fps;
  std::string dtype;
  std::string pixel_format;
  std::vector<std::string> backend_options;  // Each is "KEY=VALUE".
  bool audio = false;
  std::optional<int> sample_rate;
  std::optional<int> channels;
  std::string format;
  std::string output = "-";
  bool json = false;
  bool progress = false;
};

// The parsed arguments for one input file. A value type.
struct DecodeJob {
  std::string file;
  VideoOptions video;
  std::optional<Slice> slice;
  std::optional<std::vector<int64_t>> indices;
  std::optional<TimeRange> times;
  std::optional<Ratio> fps;
  std::optional<AudioOptions> audio;  // If set, decodes audio, not video.
  std::string format;
  std::string output;     // The output of this file; "-" is stdout.
  OutputPattern pattern;  // Parsed from `output` if each frame gets a file.
  bool several = false;   // The command has more than one file.

  // Returns true if the user chose a part of the frames, or a frame rate.
  bool chosen() const { return slice || indices || times || fps; }
  // Returns true if the job opens no output file that all frames share. Then
  // each frame gets a file of its own, or nothing is written.
  bool WritesFilesOfItsOwn() const {
    return format == "null" || (format == "png" && output != "-");
  }
};

// Returns one job for each file, in the order of `options.files`. Checks all
// arguments before any file is opened, so that a typing error is reported at
// once. Returns kInvalidArgument for a malformed argument, for options that
// exclude each other, and if two files or two frames would have the same
// output.
//
// Replaces `{name}` in the output by the name of the input file, without
// directory and extension.
Result<std::vector<DecodeJob>> ParseJobs(const DecodeOptions& options);

}  // namespace bulkhead::cli
