// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/audio/audio_resampler.h"

#include <algorithm>
#include <numeric>
#include <utility>

extern "C" {
#include <libavutil/mathematics.h>
#include <libavutil/samplefmt.h>
}

#include "ipc/try.h"

namespace bulkhead::worker::audio {
namespace {

// libswresample's defaults: 32 taps at the lower of the two rates. The cutoff
// of 0.97 stretches the filter over slightly more input samples.
constexpr double kTaps = 32;
constexpr double kCutoff = 0.97;

}  // namespace

ipc::Expected<std::unique_ptr<AudioResampler>> AudioResampler::Create(
    const AudioFormat& from, const AudioFormat& to) {
  std::unique_ptr<AudioResampler> resampler(new AudioResampler(from, to));
  IPC_TRY(resampler->Start(0));
  return resampler;
}

AudioResampler::AudioResampler(const AudioFormat& from, const AudioFormat& to)
    : from_(from), to_(to) {
  if (from.sample_rate == to.sample_rate) return;
  const int64_t common = std::gcd(from.sample_rate, to.sample_rate);
  input_period_ = from.sample_rate / common;
  output_period_ = to.sample_rate / common;
  const double ratio = from.sample_rate / (kCutoff * to.sample_rate);
  lead_ = static_cast<int64_t>(2 * (kTaps * std::max(1.0, ratio) + 1));
}

int64_t AudioResampler::InputFor(int64_t output_sample) const {
  const int64_t input = av_rescale_rnd(output_sample, input_period_,
                                       output_period_, AV_ROUND_DOWN) -
                        lead_;
  return input <= 0 ? 0 : input - input % input_period_;
}

ipc::Expected<void> AudioResampler::Start(int64_t input_sample) {
  next_output_ = input_sample / input_period_ * output_period_;
  if (from_ == to_) return {};
  IPC_ASSIGN_OR_RETURN(context_, OpenSwr(from_, AV_SAMPLE_FMT_FLTP, to_));
  return {};
}

ipc::Expected<AudioSamples> AudioResampler::Push(AudioSamples input) {
  if (!context_) return Number(std::move(input));
  const uint8_t* planes[kMaxChannels] = {};
  for (int32_t i = 0; i < input.channels; ++i) {
    planes[i] = reinterpret_cast<const uint8_t*>(input.channel(i));
  }
  return Number(ConvertBy(context_.get(), to_.channels, planes,
                          static_cast<int>(input.count)));
}

ipc::Expected<AudioSamples> AudioResampler::Finish() {
  if (!context_) return AudioSamples{.first = next_output_};
  return Number(ConvertBy(context_.get(), to_.channels, nullptr, 0));
}

ipc::Expected<AudioSamples> AudioResampler::Number(
    ipc::Expected<AudioSamples> output) {
  if (!output) return output;
  output->first = next_output_;
  next_output_ = output->end();
  return output;
}

}  // namespace bulkhead::worker::audio
