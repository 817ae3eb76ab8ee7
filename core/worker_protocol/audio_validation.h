// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/include/bulkhead/audio_decoder.h"
#include "core/include/bulkhead/host_options.h"
#include "core/include/bulkhead/status.h"
#include "ipc/schema/session.capnp.h"

namespace bulkhead::worker_protocol {

// The largest plausible values. libswresample converts no more channels.
inline constexpr uint32_t kMaxSampleRate = 1'000'000;
inline constexpr uint32_t kMaxChannels = 64;

// The answer of a worker that has opened an audio stream.
struct OpenedAudio {
  AudioMetadata metadata;
  // The format of the samples that the worker will publish; the rate is in
  // hertz.
  uint32_t sample_rate = 0;
  uint32_t channels = 0;
};

// Checks the answer to opening an audio stream with `options`: numbers within
// plausible bounds and within `limits`, texts short and printable, samples as
// the options ask for. An error means that the worker broke the protocol. The
// reader must be over private memory; call inside ipc::ReadCatching.
Result<OpenedAudio> ValidateOpenedAudio(
    ipc::schema::OpenedAudio::Reader opened_untrusted,
    const AudioOptions& options, const Limits& limits);

}  // namespace bulkhead::worker_protocol
