// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/audio/resampler_context.h"

#include <algorithm>
#include <string>

extern "C" {
#include <libavutil/channel_layout.h>
#include <libavutil/error.h>
#include <libswresample/swresample.h>
}

namespace bulkhead::worker::audio {
namespace {

AVChannelLayout LayoutOf(const AudioFormat& format) {
  AVChannelLayout layout = {};
  if (av_channel_layout_from_mask(&layout, format.channel_mask) < 0 ||
      layout.nb_channels != format.channels) {
    av_channel_layout_default(&layout, format.channels);
  }
  return layout;
}

tl::unexpected<ipc::Error> Refused(const AudioFormat& from,
                                   const AudioFormat& to, int av_error) {
  char text[AV_ERROR_MAX_STRING_SIZE] = {};
  av_strerror(av_error, text, sizeof(text));
  const auto in_words = [](const AudioFormat& format) {
    return std::to_string(format.channels) + " channels at " +
           std::to_string(format.sample_rate) + " Hz";
  };
  return ipc::Fail(ipc::Code::kUnsupported, "audio of " + in_words(from) +
                                                " cannot be made into " +
                                                in_words(to) + ": " + text);
}

}  // namespace

std::string NameOfChannels(const AudioFormat& format) {
  const AVChannelLayout layout = LayoutOf(format);
  char text[128] = {};
  av_channel_layout_describe(&layout, text, sizeof(text));
  return text;
}

void FreeSwrContext::operator()(SwrContext* context) const {
  swr_free(&context);
}

ipc::Expected<SwrContextPtr> OpenSwr(const AudioFormat& from, int sample_format,
                                     const AudioFormat& to) {
  AVChannelLayout in = LayoutOf(from);
  AVChannelLayout out = LayoutOf(to);
  SwrContext* context = nullptr;
  int error = swr_alloc_set_opts2(
      &context, &out, AV_SAMPLE_FMT_FLTP, to.sample_rate, &in,
      static_cast<AVSampleFormat>(sample_format), from.sample_rate, 0, nullptr);
  SwrContextPtr owned(context);
  if (error == 0) error = swr_init(context);
  if (error < 0) return Refused(from, to, error);
  return owned;
}

ipc::Expected<AudioSamples> ConvertBy(SwrContext* context, int32_t channels,
                                      const uint8_t* const* planes, int count) {
  const int room = swr_get_out_samples(context, count);
  AudioSamples samples;
  samples.channels = channels;
  if (room <= 0) return samples;
  const auto stride = static_cast<size_t>(room);
  samples.data.resize(stride * static_cast<size_t>(channels));
  uint8_t* out[kMaxChannels] = {};
  for (int32_t i = 0; i < channels; ++i) {
    out[i] = reinterpret_cast<uint8_t*>(samples.data.data() +
                                        static_cast<size_t>(i) * stride);
  }
  const int converted = swr_convert(context, out, room,
                                    const_cast<const uint8_t**>(planes), count);
  if (converted < 0) {
    return ipc::Fail(ipc::Code::kInternal, "libswresample failed");
  }
  samples.count = static_cast<size_t>(converted);
  // Closes the gaps between the channels if there was more room than samples.
  for (int32_t i = 1; i < channels && samples.count < stride; ++i) {
    const auto from = samples.data.begin() + i * room;
    std::copy(from, from + converted, samples.data.begin() + i * converted);
  }
  samples.data.resize(samples.count * static_cast<size_t>(channels));
  return samples;
}

}  // namespace bulkhead::worker::audio
