// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

#include "backends/worker/media/audio/audio_samples.h"

namespace bulkhead::worker::audio {

// A queue of consecutive samples, decoded ones and silence in the place of lost
// ones. Numbers the samples in the order in which they are added. Silence uses
// no memory until Take() returns it, since damage can be long. A value type.
class SampleQueue {
 public:
  // Drops all samples. The sample that is added next gets the number `next`.
  void Restart(int64_t next);

  bool empty() const { return samples_.empty(); }
  // Returns the number of the next sample to take.
  int64_t first() const;
  // Returns the number of the next sample to add.
  int64_t end() const { return end_; }

  // Adds samples, and numbers them. Leaves out samples whose numbers would be
  // `limit` or higher.
  void Add(AudioSamples samples, int64_t limit);
  void AddSilence(int64_t count, int32_t channels);
  // Removes the first samples and returns them; silence in parts of a few
  // thousand samples. The queue must not be empty.
  AudioSamples Take();
  // Puts back the samples that Take returned last.
  void PutBack(AudioSamples samples);

 private:
  std::deque<AudioSamples> samples_;  // silence has a count, but no data
  int64_t end_ = 0;
};

}  // namespace bulkhead::worker::audio
