// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bulkhead::worker {

// How many channels libswresample takes.
inline constexpr int32_t kMaxChannels = 64;

// What the samples of a stream have in common.
struct AudioFormat {
  int32_t sample_rate = 0;
  int32_t channels = 0;
  uint64_t channel_mask = 0;  // of FFmpeg's AV_CH_*; 0: no known order

  bool operator==(const AudioFormat&) const = default;
};

// Consecutive samples in 32-bit float, channel after channel.
struct AudioSamples {
  int64_t first = 0;  // number of the first, counted from the stream's own
  int32_t channels = 0;
  size_t count = 0;  // of each channel
  std::vector<float> data;

  int64_t end() const { return first + static_cast<int64_t>(count); }
  const float* channel(int32_t index) const {
    return data.data() + static_cast<size_t>(index) * count;
  }
};

// Those of `samples` from number `from` on, and before `to`.
AudioSamples Part(AudioSamples samples, int64_t from, int64_t to);

}  // namespace bulkhead::worker
