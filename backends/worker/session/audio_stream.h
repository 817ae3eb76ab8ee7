// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "backends/worker/media/audio/audio_renderer.h"
#include "backends/worker/session/decoder_opening.h"
#include "backends/worker/session/stream.h"

namespace bulkhead::worker::session {

// Serves one audio stream: demuxes, decodes through the backend, and publishes
// 32-bit float samples with the sample rate and the channels that the host
// asked for. A play (stream.h) publishes exactly the range of samples that its
// request names. Damaged samples are published as silence. Damage and notes
// (ipc/damage_sign.h) are reported before the samples that they concern.
class AudioStream : public Stream {
 public:
  // Opens the stream and its decoder, and replies with `openedAudio`. Fails
  // with kUnsupported if the backend decodes no audio.
  static ipc::Expected<std::unique_ptr<Stream>> Open(
      const StreamContext& context, ipc::schema::Open::Reader open);

  ipc::Expected<void> Scan() override;
  void AttachPool(std::shared_ptr<decode::SlotPool> pool) override;
  void Grant(uint32_t slot, uint32_t generation) override;
  ipc::Expected<void> StartPlay(ipc::schema::Play::Reader play) override;
  bool playing() const override { return play_.active && pool_; }
  ipc::Expected<bool> Advance() override;
  uint32_t AbandonPlay() override;

 private:
  struct Play {
    uint32_t epoch = 0;
    bool active = false;
    int64_t next = 0;  // the number of the next sample to publish
    int64_t end = 0;   // the number of the first sample after the play
    int64_t told = 0;  // the number of the next sample to decode, as reported
  };

  AudioStream(const StreamContext& context, ipc::schema::Open::Reader open);

  ipc::Expected<void> OpenInput(ipc::schema::Open::Reader open);
  // Sends the reply `openedAudio`.
  ipc::Expected<void> Describe();
  // Copies the samples into a slot and sends `samples`. Returns false if no
  // slot is free.
  ipc::Expected<bool> Publish(const audio::AudioSamples& samples);
  // Sends `lostSamples` for the damage and the notes that decoding has met
  // since the last ReportLost().
  ipc::Expected<void> ReportLost();
  // Sends `skipping`: how far decoding has come towards the first sample of the
  // play. Sends it at most once for each second of audio. Returns true.
  ipc::Expected<bool> ReportProgress();
  // Ends the play and sends `endOfStream` or `paused`. Returns true.
  ipc::Expected<bool> EndPlay(bool at_end_of_stream);

  const StreamContext context_;
  const DecoderOpening opening_;
  std::unique_ptr<audio::AudioRenderer> renderer_;
  std::shared_ptr<decode::SlotPool> pool_;
  Play play_;
  // The number of the first sample after all damage, and after all notes, that
  // were reported so far, at the output's rate.
  int64_t lost_until_ = 0;
  int64_t noted_until_ = 0;
};

}  // namespace bulkhead::worker::session
