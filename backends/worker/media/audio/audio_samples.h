// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bulkhead::worker::audio {

// The largest number of channels that libswresample supports.
inline constexpr int32_t kMaxChannels = 64;

// The properties that all samples of a stream share.
struct AudioFormat {
  int32_t sample_rate = 0;
  int32_t channels = 0;
  // Bits are FFmpeg's AV_CH_*; 0 if the order of the channels is unknown.
  uint64_t channel_mask = 0;

  bool operator==(const AudioFormat&) const = default;
};

// Consecutive samples in 32-bit float, planar: all samples of the first
// channel, then the samples of the next.
struct AudioSamples {
  int64_t first = 0;  // the first sample's number within the stream
  int32_t channels = 0;
  size_t count = 0;  // samples per channel
  std::vector<float> data;

  int64_t end() const { return first + static_cast<int64_t>(count); }
  const float* channel(int32_t index) const {
    return data.data() + static_cast<size_t>(index) * count;
  }
};

// Returns the samples whose numbers lie in [from, to).
AudioSamples Part(AudioSamples samples, int64_t from, int64_t to);

}  // namespace bulkhead::worker::audio
