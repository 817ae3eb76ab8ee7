// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "backends/worker/media/audio_renderer.h"
#include "backends/worker/session/decoder_opening.h"
#include "backends/worker/session/stream.h"

namespace bulkhead::worker {

// One stream of audio: demuxes, decodes through the backend, and publishes
// samples in 32-bit float, at the rate and with the channels that the host
// wants, exactly those that a play asks for.
class AudioStream : public Stream {
 public:
  // Opens the stream and the decoder, answers `openedAudio`. kUnsupported: the
  // backend decodes no audio.
  static ipc::Expected<std::unique_ptr<Stream>> Open(
      const StreamContext& context, ipc::schema::Open::Reader open);

  ipc::Expected<void> Scan() override;
  void AttachPool(std::shared_ptr<SlotPool> pool) override;
  void Grant(uint32_t slot, uint32_t generation) override;
  ipc::Expected<void> StartPlay(ipc::schema::Play::Reader play) override;
  bool playing() const override { return play_.active && pool_; }
  ipc::Expected<bool> Advance() override;
  uint32_t AbandonPlay() override;

 private:
  struct Play {
    uint32_t epoch = 0;
    bool active = false;
    int64_t next = 0;  // sample
    int64_t end = 0;
    int64_t told = 0;  // how far it was said to have come
  };

  AudioStream(const StreamContext& context, ipc::schema::Open::Reader open);

  ipc::Expected<void> OpenInput(ipc::schema::Open::Reader open);
  ipc::Expected<void> Describe();
  ipc::Expected<bool> Publish(const AudioSamples& samples);
  ipc::Expected<bool> TellProgress();
  ipc::Expected<bool> EndPlay(bool at_end_of_stream);

  const StreamContext context_;
  const DecoderOpening opening_;
  std::unique_ptr<AudioRenderer> renderer_;
  std::shared_ptr<SlotPool> pool_;
  Play play_;
};

}  // namespace bulkhead::worker
