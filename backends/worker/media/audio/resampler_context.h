// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "backends/worker/media/audio/audio_samples.h"
#include "ipc/error.h"

struct SwrContext;

namespace bulkhead::worker::audio {

// Returns FFmpeg's name of the channel layout: "stereo", "5.1(side)", "16
// channels".
std::string NameOfChannels(const AudioFormat& format);

struct FreeSwrContext {
  void operator()(SwrContext* context) const;
};
using SwrContextPtr = std::unique_ptr<SwrContext, FreeSwrContext>;

// Makes a libswresample context with the settings of the ffmpeg program. It
// converts samples of `sample_format` (an AVSampleFormat) to planar 32-bit
// float. Fails with kUnsupported if libswresample cannot do so.
ipc::Expected<SwrContextPtr> OpenSwr(const AudioFormat& from, int sample_format,
                                     const AudioFormat& to);

// Converts `count` samples from `planes`, and returns all samples that
// `context` yields, numbered from 0. With null `planes`, returns the samples
// that the context still holds. `channels` is the number of output channels.
ipc::Expected<AudioSamples> ConvertBy(SwrContext* context, int32_t channels,
                                      const uint8_t* const* planes, int count);

}  // namespace bulkhead::worker::audio
