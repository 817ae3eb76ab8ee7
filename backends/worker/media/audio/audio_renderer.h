// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "backends/worker/media/audio/audio_reader.h"
#include "backends/worker/media/audio/audio_resampler.h"
#include "backends/worker/media/audio/audio_samples.h"
#include "ipc/error.h"

namespace bulkhead::worker::audio {

// Renders an audio stream with the sample rate and the channels that were asked
// for. Any part of the output equals the same part of the whole output, sample
// for sample.
//
//     renderer->Seek(from);
//     while (auto samples = *renderer->Next(to)) Show(*samples);
//
// To reach a later sample, decodes on from the current position, or seeks if
// the reader then decodes fewer packets. So consecutive ranges decode each
// packet once, whatever the codec.
//
// All numbers, except those from TakeLost(), count output samples. Used by one
// thread.
class AudioRenderer {
 public:
  // A `sample_rate` or `channels` of 0 means the stream's own value.
  static ipc::Expected<std::unique_ptr<AudioRenderer>> Create(
      std::unique_ptr<AudioReader> reader, int32_t sample_rate,
      int32_t channels);

  const AudioReader& reader() const { return *reader_; }
  // Returns what AudioReader::TakeLost returns. The numbers in it count input
  // samples.
  std::vector<LostSamples> TakeLost() { return reader_->TakeLost(); }
  const AudioFormat& format() const { return format_; }

  // Makes Next() return samples from number `sample` on.
  ipc::Expected<void> Seek(int64_t sample);

  // Makes one decoding step, and returns the next samples before number `to`;
  // possibly none, so call it again. Returns nullopt when `to` or the end of
  // the stream is reached.
  ipc::Expected<std::optional<AudioSamples>> Next(int64_t to);
  // Returns whether Next() has returned the last sample of the stream.
  bool ended() const { return ended_ && rest_.count == 0; }

  // Returns the number of the next sample that decoding will produce.
  int64_t reached() const { return reached_; }

 private:
  AudioRenderer(std::unique_ptr<AudioReader> reader, AudioFormat format,
                std::unique_ptr<AudioResampler> resampler);

  const std::unique_ptr<AudioReader> reader_;
  const AudioFormat format_;
  const std::unique_ptr<AudioResampler> resampler_;

  int64_t feed_from_ = 0;  // the first input sample to pass to the resampler
  // The first exact output sample. Earlier ones are dropped, since they would
  // need input from before feed_from_.
  int64_t exact_from_ = 0;
  int64_t wanted_ = 0;   // the next sample to return
  int64_t reached_ = 0;  // the next sample that the resampler will yield
  AudioSamples rest_;    // decoded samples from the last Next()'s `to` on
  bool ended_ = false;   // the reader is at its end
};

}  // namespace bulkhead::worker::audio
