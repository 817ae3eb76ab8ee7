// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "backends/sdk/bulkhead_backend.h"
#include "backends/worker/media/audio_samples.h"
#include "backends/worker/media/resampler_context.h"
#include "ipc/error.h"

namespace bulkhead::worker {

// Decoded frames as samples in 32-bit float, as `ffmpeg -f f32le` makes them:
// integers are divided by the magnitude of their least value, so that they lie
// in [-1, 1]; floats stay what they are, also beyond that.
//
// All samples have the format of the first frame. A stream that changes its
// rate or its channels is converted to that, beginning anew at each change, as
// the ffmpeg program does. Then the samples depend on all frames before, and
// varied() says so.
//
// One thread. kUnsupported: no such samples can be converted.
class AudioConverter {
 public:
  ipc::Expected<AudioSamples> Convert(const bulkhead_frame& frame);
  // What is left at the end of the stream.
  ipc::Expected<AudioSamples> Finish();
  // Before the first frame again.
  void Reset();

  // Of the first frame; none has come yet if the rate is 0.
  const AudioFormat& format() const { return format_; }
  const std::string& sample_format() const { return sample_format_; }
  bool varied() const { return varied_; }

 private:
  AudioFormat format_;
  std::string sample_format_;  // of the decoder's first frame
  // Of the frames that context_ takes.
  AudioFormat taken_;
  int taken_sample_format_ = -1;
  SwrContextPtr context_;
  bool varied_ = false;
};

}  // namespace bulkhead::worker
