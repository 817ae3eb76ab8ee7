// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "backends/worker/media/audio_samples.h"
#include "ipc/error.h"

struct SwrContext;

namespace bulkhead::worker {

// As FFmpeg writes it: "stereo", "5.1(side)", "16 channels".
std::string NameOfChannels(const AudioFormat& format);

struct FreeSwrContext {
  void operator()(SwrContext* context) const;
};
using SwrContextPtr = std::unique_ptr<SwrContext, FreeSwrContext>;

// A libswresample context, set up as the ffmpeg program sets up its own, from
// samples of libavutil's format `sample_format` to 32-bit float planar.
// kUnsupported where libswresample cannot do it.
ipc::Expected<SwrContextPtr> OpenSwr(const AudioFormat& from, int sample_format,
                                     const AudioFormat& to);

// Everything that `context` yields for these planes; null: the rest that it
// holds. `channels` is that of its output. The samples are numbered from 0.
ipc::Expected<AudioSamples> ConvertBy(SwrContext* context, int32_t channels,
                                      const uint8_t* const* planes, int count);

}  // namespace bulkhead::worker
