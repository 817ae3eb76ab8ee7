// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/audio/audio_samples.h"

#include <algorithm>

namespace bulkhead::worker::audio {

AudioSamples Part(AudioSamples samples, int64_t from, int64_t to) {
  from = std::clamp(from, samples.first, samples.end());
  to = std::clamp(to, from, samples.end());
  if (from == samples.first && to == samples.end()) return samples;
  const auto count = static_cast<size_t>(to - from);
  AudioSamples part{
      .first = from, .channels = samples.channels, .count = count, .data = {}};
  part.data.reserve(count * static_cast<size_t>(samples.channels));
  for (int32_t i = 0; i < samples.channels; ++i) {
    const float* start = samples.channel(i) + (from - samples.first);
    part.data.insert(part.data.end(), start, start + count);
  }
  return part;
}

}  // namespace bulkhead::worker::audio
