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

// The words after `bulkhead decode`, as they were typed.
struct DecodeOptions {
  std::vector<std::string> files;
  VideoOptions video;
  std::string frames;
  std::string at;
  std::string times;
  std::string fps;
  std::string dtype;
  bool audio = false;
  std::optional<int> sample_rate;
  std::optional<int> channels;
  std::string format;
  std::string output = "-";
  bool json = false;
  bool progress = false;
};

// What is to be done with one file. Values.
struct DecodeJob {
  std::string file;
  VideoOptions video;
  std::optional<Slice> slice;
  std::optional<std::vector<int64_t>> indices;
  std::optional<TimeRange> times;
  std::optional<Ratio> fps;
  std::optional<AudioOptions> audio;  // that is to be decoded, not the video
  std::string format;
  std::string output;     // for this file; "-" is stdout
  OutputPattern pattern;  // of it, where every frame gets a file of its own
  bool several = false;   // there are other files

  bool chosen() const { return slice || indices || times || fps; }
  // False: the frames go to one output, `output`.
  bool WritesFilesOfItsOwn() const {
    return format == "null" || (format == "png" && output != "-");
  }
};

// One job a file, in order. All words are looked at before anything is opened,
// so that a slip costs no decoding. kInvalidArgument for words that mean
// nothing and for outputs of two files, or two frames, that would be the same.
//
// `{name}` in the output stands for the name of the file without its directory
// and extension.
Result<std::vector<DecodeJob>> ParseJobs(const DecodeOptions& options);

}  // namespace bulkhead::cli
