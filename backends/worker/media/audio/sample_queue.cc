// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/audio/sample_queue.h"

#include <algorithm>
#include <utility>

namespace bulkhead::worker::audio {
namespace {

constexpr size_t kSilenceAtOnce = 4096;

}  // namespace

void SampleQueue::Restart(int64_t next) {
  samples_.clear();
  end_ = next;
}

int64_t SampleQueue::first() const {
  return samples_.empty() ? end_ : samples_.front().first;
}

void SampleQueue::Add(AudioSamples samples, int64_t limit) {
  samples.first = end_;
  AudioSamples part = Part(std::move(samples), end_, limit);
  if (part.count == 0) return;
  end_ = part.end();
  samples_.push_back(std::move(part));
}

void SampleQueue::AddSilence(int64_t count, int32_t channels) {
  if (count == 0) return;
  samples_.push_back({.first = end_,
                      .channels = channels,
                      .count = static_cast<size_t>(count),
                      .data = {}});
  end_ += count;
}

AudioSamples SampleQueue::Take() {
  AudioSamples& front = samples_.front();
  if (!front.data.empty()) {
    AudioSamples samples = std::move(front);
    samples_.pop_front();
    return samples;
  }
  AudioSamples silence = front;
  silence.count = std::min(front.count, kSilenceAtOnce);
  silence.data.resize(silence.count * static_cast<size_t>(silence.channels));
  front.first = silence.end();
  front.count -= silence.count;
  if (front.count == 0) samples_.pop_front();
  return silence;
}

void SampleQueue::PutBack(AudioSamples samples) {
  samples_.push_front(std::move(samples));
}

}  // namespace bulkhead::worker::audio
