// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace bulkhead::tests {

// Plays files with the ffmpeg program of this machine: with one thread and else
// its defaults, and with `-v warning`.

// Returns what ffmpeg has printed about a file, without what says nothing of
// its pictures and samples: about the conversion of pictures, about guesses
// that a short or raw stream leaves to libavformat, and about timestamps.
std::string ComplaintsIn(const std::string& errors);

struct PlayedPictures {
  bool has_stream = false;
  // The hash of each picture as RGB24, upright, as HashOf() in
  // tests/support/frame_hash.h makes it.
  std::vector<std::string> hashes;
  std::string complaints;  // empty: ffmpeg plays them without a word
};
// Takes the first video stream that is no cover, or else the first one.
PlayedPictures PlayPictures(const std::string& path);

struct PlayedSound {
  bool has_stream = false;
  std::vector<float> samples;  // interleaved
  std::string complaints;
};
// Takes the first audio stream.
PlayedSound PlaySound(const std::string& path);

}  // namespace bulkhead::tests
