// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/video_decoder.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace bulkhead::cli::verify {

// The first frame that differs between two devices.
struct FirstDifference {
  uint64_t frame = 0;
  double seconds = 0;  // the time of the frame in the stream
  // The difference in words: "its picture, in 1 of 691200 numbers, PSNR 106.5
  // dB".
  std::string words;
};

// The result of decoding one video stream on two devices.
struct Comparison {
  Dtype numbers = Dtype::kUint8;  // The type of the first device's numbers.
  uint64_t frames = 0;            // The frames that both devices returned.
  uint64_t refused = 0;           // The frames that both devices call damaged.
  uint64_t differing = 0;         // The frames that differ in any way.
  // False if the comparison ended early, because the devices gave answers of
  // different kinds: a frame, damage, or the end. Their next answers might
  // belong to different frames.
  bool complete = true;
  std::optional<FirstDifference> first_difference;
  std::optional<double> lowest_psnr;  // Over the pictures that differ.
  // The time spent in calls of the first and of the second device.
  double seconds = 0;
  double against_seconds = 0;
};

// Decodes both streams from their beginning, frame by frame in turns, and
// compares the pictures number by number. Damage that both devices report for
// the same frame is no difference; damage on one device alone is a difference.
// Returns any other error of a device. Calls `seen` after each frame.
Result<Comparison> CompareSideBySide(VideoDecoder& video, VideoDecoder& against,
                                     const std::function<void()>& seen);

}  // namespace bulkhead::cli::verify
