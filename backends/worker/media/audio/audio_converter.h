// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "backends/sdk/bulkhead_backend.h"
#include "backends/worker/media/audio/audio_samples.h"
#include "backends/worker/media/audio/resampler_context.h"
#include "ipc/error.h"

namespace bulkhead::worker::audio {

// Converts decoded audio frames to 32-bit float samples, with the result of
// `ffmpeg -f f32le`. Integers of n bits are divided, as signed numbers, by
// 2^(n-1) (32768 for 16 bits), so the results lie in [-1, 1]. Floats are not
// changed, even outside of [-1, 1].
//
// All samples have the rate and the channels of the first frame. After each
// change of the stream's rate or channels, a new resampler converts the frames,
// as in the ffmpeg program. The samples then depend on all earlier frames, and
// varied() returns true.
//
// Used by one thread. Fails with kUnsupported for a format that cannot be
// converted or more than kMaxChannels channels, and with kBackendMisbehaved for
// a frame without valid samples.
class AudioConverter {
 public:
  ipc::Expected<AudioSamples> Convert(const bulkhead_frame& frame);
  // Returns the samples that the resampler still holds at the end of the
  // stream.
  ipc::Expected<AudioSamples> Finish();
  // Sets the format that the container declares, for a stream without frames.
  void Declare(const AudioFormat& format) { format_ = format; }
  // Prepares for decoding from the beginning again. Keeps format().
  void Reset() { context_.reset(); }

  // Returns the format of the first frame, or the format passed to Declare().
  // The rate is 0 as long as neither is known.
  const AudioFormat& format() const { return format_; }
  // Returns FFmpeg's name of the first frame's sample format.
  const std::string& sample_format() const { return sample_format_; }
  // Returns whether the rate or the channels have changed.
  bool varied() const { return varied_; }

 private:
  AudioFormat format_;
  std::string sample_format_;
  // The input format for which context_, the resampler, was made.
  AudioFormat taken_;
  int taken_sample_format_ = -1;
  SwrContextPtr context_;
  bool varied_ = false;
};

}  // namespace bulkhead::worker::audio
