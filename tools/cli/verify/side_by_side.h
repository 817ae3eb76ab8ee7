// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/host.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "tools/cli/verify/picture_difference.h"

namespace bulkhead::cli {

// The first frame that differs.
struct FirstDifference {
  uint64_t frame = 0;
  double seconds = 0;  // the time of the frame in the stream
  // The difference in words: "its picture, in 1 of 691200 numbers, PSNR 106.5
  // dB".
  std::string words;
};

// The result of decoding one video stream on two devices.
struct Comparison {
  Dtype numbers = Dtype::kUint8;  // the first device's
  uint64_t frames = 0;            // that both gave
  uint64_t refused = 0;           // that both call damaged
  uint64_t differing = 0;  // of which time, size, numbers or picture differ
  // Both were compared to their end. False if only one of them gave a frame:
  // the two are out of step from there on, and nothing after it is compared.
  bool complete = true;
  std::optional<FirstDifference> first;
  std::optional<double> lowest_psnr;  // of the pictures that differ
  // The time that was spent in the calls of each device.
  double seconds = 0;
  double against_seconds = 0;
};

// Decodes both streams from their beginning, frame by frame in turns, and
// compares pictures number by number. Damage that both tell at the same place
// is no difference. Returns the error of a device that fails where the other
// one goes on, unless that is for damage, which is a difference. `seen` is
// called after each frame.
Result<Comparison> CompareSideBySide(VideoDecoder& video, VideoDecoder& against,
                                     const std::function<void()>& seen);

}  // namespace bulkhead::cli
