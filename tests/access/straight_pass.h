// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bulkhead/host.h"

namespace bulkhead::tests {

// Identifies a frame among all frames of its file.
struct SeenFrame {
  uint64_t index = 0;
  std::optional<int64_t> pts;
  double seconds = 0;  // the timestamp in seconds
  std::string hash;

  bool operator==(const SeenFrame&) const = default;
};

SeenFrame See(const Frame& frame);
std::string Describe(const SeenFrame& frame);

// Returns video.damage() without the notes.
std::vector<DamagedRange> DamageOf(const VideoDecoder& video);

// Returns how many frames of the index are damaged, as far as video.damage()
// says.
uint64_t DamagedFrames(const VideoDecoder& video);

// Returns whether the frame with the timestamp is one of DamageOf(video). Also
// true if some of the damage has no time.
bool IsListedAsDamaged(const VideoDecoder& video, int64_t pts);

// The frames that Next() returned, from the first one on. `failure` is OK if
// the pass reached the end of the stream.
struct StraightPass {
  std::vector<SeenFrame> frames;
  Status failure;
};
StraightPass DecodeStraight(VideoDecoder& video);

}  // namespace bulkhead::tests
