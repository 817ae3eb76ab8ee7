// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "backends/worker/media/audio_reader.h"
#include "backends/worker/media/audio_resampler.h"
#include "backends/worker/media/audio_samples.h"
#include "ipc/error.h"

namespace bulkhead::worker {

// A stream of audio at the rate and with the channels that were asked for. Any
// part of it equals that part of the whole, sample for sample.
//
//     renderer->Seek(from);
//     while (auto samples = *renderer->Next(to)) Show(*samples);
//
// Numbers are those of output samples. One thread.
class AudioRenderer {
 public:
  // 0: as in the stream.
  static ipc::Expected<std::unique_ptr<AudioRenderer>> Create(
      std::unique_ptr<AudioReader> reader, int32_t sample_rate,
      int32_t channels);

  const AudioReader& reader() const { return *reader_; }
  const AudioFormat& format() const { return format_; }

  ipc::Expected<void> Seek(int64_t sample);

  // What comes next, but none from `to` on: one step, after which there may be
  // no sample yet. Empty: at `to`, or at the end of the stream.
  ipc::Expected<std::optional<AudioSamples>> Next(int64_t to);
  bool ended() const { return ended_ && rest_.count == 0; }

  // How far decoding has come.
  int64_t reached() const { return reached_; }

 private:
  AudioRenderer(std::unique_ptr<AudioReader> reader, AudioFormat format,
                std::unique_ptr<AudioResampler> resampler);

  const std::unique_ptr<AudioReader> reader_;
  const AudioFormat format_;
  const std::unique_ptr<AudioResampler> resampler_;

  int64_t feed_from_ = 0;  // input samples before it were not asked for
  int64_t wanted_ = 0;     // the next to be handed out
  int64_t reached_ = 0;    // the next that the resampler gives
  AudioSamples rest_;      // of the last step, beyond what was asked for
  bool ended_ = false;
};

}  // namespace bulkhead::worker
