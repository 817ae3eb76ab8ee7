// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/host.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/application/decoding/job.h"

namespace bulkhead::cli::decode {

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

// Returns one job for each file, in the order of `options.files`. Checks all
// arguments before any file is opened, so that a typing error is reported at
// once. Returns kInvalidArgument for a malformed argument, for options that
// exclude each other, and if two files or two frames would have the same
// output.
//
// Replaces `{name}` in the output by the name of the input file, without
// directory and extension.
Result<std::vector<decoding::Job>> ParseJobs(const DecodeOptions& options);

}  // namespace bulkhead::cli::decode
