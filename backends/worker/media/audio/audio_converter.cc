// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/audio/audio_converter.h"

#include <utility>

extern "C" {
#include <libavutil/samplefmt.h>
}

#include "backends/worker/media/decode/abi_breach.h"
#include "ipc/try.h"

namespace bulkhead::worker::audio {

ipc::Expected<AudioSamples> AudioConverter::Convert(
    const bulkhead_frame& frame) {
  const int sample_format = frame.sample_format != nullptr
                                ? av_get_sample_fmt(frame.sample_format)
                                : AV_SAMPLE_FMT_NONE;
  if (sample_format == AV_SAMPLE_FMT_NONE || frame.planes == nullptr ||
      frame.sample_rate <= 0 || frame.channels <= 0 || frame.sample_count < 0) {
    return tl::unexpected(decode::BreachOf(
        "receive_frame gave a frame without samples, or in a format "
        "that FFmpeg does not know, for a stream of audio",
        "frame-7",
        "Audio has a sample format that FFmpeg knows, a rate, channels "
        "and planes."));
  }
  if (frame.channels > kMaxChannels) {
    return ipc::Fail(ipc::Code::kUnsupported,
                     "audio of " + std::to_string(frame.channels) +
                         " channels: at most " + std::to_string(kMaxChannels) +
                         " are supported");
  }
  const AudioFormat format = {frame.sample_rate, frame.channels,
                              frame.channel_mask};
  if (format_.sample_rate == 0) {
    format_ = format;
    sample_format_ = frame.sample_format;
  }
  if (!context_ || format != taken_ || sample_format != taken_sample_format_) {
    // Only a change of rate or channels counts as a variation: a conversion of
    // the sample format alone keeps no state between samples.
    varied_ = varied_ || (context_ && format != taken_);
    IPC_ASSIGN_OR_RETURN(context_, OpenSwr(format, sample_format, format_));
    taken_ = format;
    taken_sample_format_ = sample_format;
  }
  return ConvertBy(context_.get(), format_.channels, frame.planes,
                   frame.sample_count);
}

ipc::Expected<AudioSamples> AudioConverter::Finish() {
  if (!context_) return AudioSamples{};
  return ConvertBy(context_.get(), format_.channels, nullptr, 0);
}

}  // namespace bulkhead::worker::audio
