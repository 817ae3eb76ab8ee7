// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "backends/worker/media/audio/audio_samples.h"
#include "backends/worker/media/audio/resampler_context.h"
#include "ipc/error.h"

namespace bulkhead::worker::audio {

// Converts samples to another rate or other channels with libswresample, so
// that any part of the output equals the same part of the whole output, bit for
// bit.
//
//     resampler->Start(resampler->InputFor(wanted));
//     // push samples from that number on; drop the output before `wanted`
//
// Two rules achieve that:
//   - The phase of the filter repeats every in_rate / gcd(in_rate, out_rate)
//     input samples. So the resampler starts at a multiple of that number,
//     where its phase is the same as at sample 0.
//   - The resampler invents the input before its first sample. So it starts two
//     filter lengths before the wanted sample.
//
// Passes the samples through if neither rate nor channels change. Used by one
// thread.
class AudioResampler {
 public:
  static ipc::Expected<std::unique_ptr<AudioResampler>> Create(
      const AudioFormat& from, const AudioFormat& to);

  // Returns the number of the input sample at which to start, so that the
  // output is exact from `output_sample` on.
  int64_t InputFor(int64_t output_sample) const;
  // Starts anew. The next input begins with `input_sample`.
  ipc::Expected<void> Start(int64_t input_sample);

  // Push converts input, Finish returns the samples that the filter still holds
  // at the end. The results are numbered in output samples of the stream.
  ipc::Expected<AudioSamples> Push(AudioSamples input);
  ipc::Expected<AudioSamples> Finish();

  // Returns the number of the next output sample.
  int64_t next_output() const { return next_output_; }

 private:
  AudioResampler(const AudioFormat& from, const AudioFormat& to);
  // Numbers the samples from next_output_ on.
  ipc::Expected<AudioSamples> Number(ipc::Expected<AudioSamples> output);

  const AudioFormat from_;
  const AudioFormat to_;
  // After this many samples the phase of the filter repeats.
  int64_t input_period_ = 1;
  int64_t output_period_ = 1;
  int64_t lead_ = 0;  // how many input samples before the wanted one to start
  SwrContextPtr context_;
  int64_t next_output_ = 0;
};

}  // namespace bulkhead::worker::audio
