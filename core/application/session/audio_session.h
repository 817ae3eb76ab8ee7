// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/application/session/worker_recovery.h"
#include "core/application/supervisor_link/supervisor_link.h"
#include "core/application/worker_link/audio_link.h"
#include "core/application/worker_link/media_input.h"
#include "core/include/bulkhead/audio_decoder.h"
#include "core/include/bulkhead/host_options.h"
#include "core/worker_protocol/frame_pool.h"

namespace bulkhead::session {

// One open stream of audio, across any number of workers. What a caller is
// owed is a number of samples from one on; when a worker dies, the next is
// asked for those that are still missing. Samples are copied out of the slots
// that the worker can write before anybody sees them.
//
// Not thread-safe, like the AudioDecoder that owns it.
class AudioSession : private WorkerRecovery::Client {
 public:
  static Result<std::unique_ptr<AudioSession>> Open(
      std::shared_ptr<SupervisorLink> supervisor, const Source& source,
      AudioOptions options, const Limits& limits);

  const AudioMetadata& metadata() const { return opened_->metadata; }
  const RecoveryStats& recovery() const { return recovery_.stats(); }
  int worker_pid() const;
  Status CheckProcess() const { return recovery_.CheckProcess(); }

  Result<AudioSamples> SamplesPlayedInRange(double start_seconds,
                                            std::optional<double> stop_seconds);

 private:
  // Channel after channel, each as long as the others.
  using Channels = std::vector<std::vector<float>>;

  AudioSession(std::shared_ptr<SupervisorLink> supervisor, MediaInput input,
               AudioOptions options, const Limits& limits);
  WorkerRecovery::Settings RecoverySettings() const;

  Status OpenOn(WorkerLink& link, uint32_t incarnation) override;
  void WorkerLost(bool gone) override;

  // The number of the sample that is nearest to a time.
  int64_t SampleAt(double seconds) const;
  AudioSamples Describe(double pts_seconds) const;
  // Until there are `count` samples from `first` on, or no more in the stream.
  Result<Channels> Fetch(int64_t first, int64_t count);
  // Adds what comes next; false: there is no more.
  Result<bool> FetchSome(int64_t first, int64_t count, Channels& channels);

  const MediaInput input_;
  const AudioOptions options_;
  const Limits limits_;
  std::optional<OpenedAudio> opened_;
  std::shared_ptr<FramePool> pool_;
  bool playing_ = false;
  WorkerRecovery recovery_;
  std::optional<AudioLink> audio_;  // while there is a worker
};

}  // namespace bulkhead::session
