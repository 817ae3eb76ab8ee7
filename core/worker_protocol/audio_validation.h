// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/include/bulkhead/audio_decoder.h"
#include "core/include/bulkhead/host_options.h"
#include "core/include/bulkhead/status.h"
#include "ipc/schema/session.capnp.h"

namespace bulkhead::worker_protocol {

// The largest plausible values. libswresample converts no more than 64
// channels.
inline constexpr uint32_t kMaxSampleRate = 1'000'000;
inline constexpr uint32_t kMaxChannels = 64;

// A worker's validated answer to opening an audio stream.
struct OpenedAudio {
  AudioMetadata metadata;
  // The format of the samples that the worker is going to publish; the rate is
  // in hertz.
  uint32_t sample_rate = 0;
  uint32_t channels = 0;
};

// Checks a worker's answer to opening an audio stream with `options`: numbers
// must be plausible and within `limits`, and the samples must be as the options
// ask. Texts are made short and printable. An error means that the worker broke
// the protocol. The reader must read a private copy of the message, which the
// worker cannot change. Call inside ipc::ReadCatching.
Result<OpenedAudio> ValidateOpenedAudio(
    ipc::schema::OpenedAudio::Reader opened_untrusted,
    const AudioOptions& options, const Limits& limits);

}  // namespace bulkhead::worker_protocol
