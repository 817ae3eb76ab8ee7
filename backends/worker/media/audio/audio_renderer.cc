// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/audio/audio_renderer.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "ipc/try.h"

namespace bulkhead::worker::audio {

ipc::Expected<std::unique_ptr<AudioRenderer>> AudioRenderer::Create(
    std::unique_ptr<AudioReader> reader, int32_t sample_rate,
    int32_t channels) {
  const AudioFormat& from = reader->converter().format();
  AudioFormat to = from;
  if (sample_rate > 0) to.sample_rate = sample_rate;
  if (channels > 0 && channels != from.channels) {
    to.channels = channels;
    to.channel_mask = 0;
  }
  IPC_ASSIGN_OR_RETURN(auto resampler, AudioResampler::Create(from, to));
  return std::unique_ptr<AudioRenderer>(
      new AudioRenderer(std::move(reader), to, std::move(resampler)));
}

AudioRenderer::AudioRenderer(std::unique_ptr<AudioReader> reader,
                             AudioFormat format,
                             std::unique_ptr<AudioResampler> resampler)
    : reader_(std::move(reader)),
      format_(format),
      resampler_(std::move(resampler)) {}

ipc::Expected<void> AudioRenderer::Seek(int64_t sample) {
  const int64_t input = resampler_->InputFor(sample);
  const int64_t next = rest_.count > 0 ? rest_.first : reached_;
  wanted_ = sample;
  // Decoding onward reaches `sample`, and yields its exact value.
  const bool goes_on = std::max(next, exact_from_) <= sample;
  if (goes_on && !reader_->SeekSaves(input)) return {};
  rest_ = {};
  ended_ = false;
  feed_from_ = input;
  exact_from_ = sample;
  IPC_TRY(reader_->Seek(input));
  auto started = resampler_->Start(input);
  reached_ = resampler_->next_output();
  return started;
}

ipc::Expected<std::optional<AudioSamples>> AudioRenderer::Next(int64_t to) {
  if (wanted_ >= to || ended()) return std::optional<AudioSamples>();
  AudioSamples samples = std::exchange(rest_, {});
  // Decodes only if the last step has left no samples over.
  if (samples.count == 0) {
    IPC_ASSIGN_OR_RETURN(auto read, reader_->Read());
    ended_ = !read;
    IPC_ASSIGN_OR_RETURN(
        samples,
        ended_ ? resampler_->Finish()
               : resampler_->Push(Part(*std::move(read), feed_from_,
                                       std::numeric_limits<int64_t>::max())));
    reached_ = samples.end();
  }
  if (samples.end() > to) {
    rest_ = Part(samples, to, samples.end());
  }
  samples = Part(std::move(samples), wanted_, to);
  if (samples.count > 0) wanted_ = samples.end();
  return std::make_optional(std::move(samples));
}

}  // namespace bulkhead::worker::audio
