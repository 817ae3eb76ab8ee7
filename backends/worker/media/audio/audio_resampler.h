// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "backends/worker/media/audio/audio_samples.h"
#include "backends/worker/media/audio/resampler_context.h"
#include "ipc/error.h"

namespace bulkhead::worker {

// Converts samples to another rate or other channels with libswresample, so
// that any part of the output equals the same part of the whole output, bit for
// bit.
//
//     resampler->Start(resampler->InputFor(wanted));
//     // push samples from that number on; drop the output before `wanted`
//
// Two rules achieve that. The phase of the filter repeats every in_rate / gcd
// input samples, so the resampler starts at a multiple of that number, where
// its phase is as if it had started at 0. And the resampler starts two filter
// lengths early, since it invents the input before its first sample.
//
// Passes the samples through if neither rate nor channels change. Used by one
// thread.
class AudioResampler {
 public:
  static ipc::Expected<std::unique_ptr<AudioResampler>> Create(
      const AudioFormat& from, const AudioFormat& to);

  // Returns the input sample to start at for exact output from `output_sample`
  // on.
  int64_t InputFor(int64_t output_sample) const;
  ipc::Expected<void> Start(int64_t input_sample);

  // Return samples numbered in output samples of the stream. Finish returns the
  // samples that the filter still holds at the end.
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
  int64_t lead_ = 0;  // how many input samples before the wanted one to start
  SwrContextPtr context_;
  int64_t next_output_ = 0;
};

}  // namespace bulkhead::worker
