// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "backends/worker/media/audio_samples.h"
#include "backends/worker/media/resampler_context.h"
#include "ipc/error.h"

namespace bulkhead::worker {

// Samples of a stream at another rate or with other channels, by libswresample,
// so that a part equals the same part of the whole, bit for bit.
//
//     resampler->Start(resampler->InputFor(wanted));
//     // feed samples from that number on; drop what comes before `wanted`
//
// What makes that true: the phase of the filter repeats every in_rate / gcd
// samples of the input, so a resampler that starts at a multiple of that has
// the phases of one that started at 0; and it starts two lengths of the filter
// early, since it makes up what lies before its first sample.
//
// Where nothing changes, it hands on what it is given. One thread.
class AudioResampler {
 public:
  static ipc::Expected<std::unique_ptr<AudioResampler>> Create(
      const AudioFormat& from, const AudioFormat& to);

  // Where to start, at the latest, for exact output from `output_sample` on.
  int64_t InputFor(int64_t output_sample) const;
  ipc::Expected<void> Start(int64_t input_sample);

  // Numbered in output samples of the stream.
  ipc::Expected<AudioSamples> Push(AudioSamples input);
  ipc::Expected<AudioSamples> Finish();

  int64_t next_output() const { return next_output_; }

 private:
  AudioResampler(const AudioFormat& from, const AudioFormat& to);
  ipc::Expected<AudioSamples> Number(ipc::Expected<AudioSamples> output);

  const AudioFormat from_;
  const AudioFormat to_;
  int64_t input_period_ = 1;
  int64_t output_period_ = 1;
  int64_t lead_ = 0;  // input samples
  SwrContextPtr context_;
  int64_t next_output_ = 0;
};

}  // namespace bulkhead::worker
