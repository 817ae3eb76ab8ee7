// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/application/frames/sample_damage_log.h"
#include "core/application/session/stream_memory.h"
#include "core/application/session/worker_recovery.h"
#include "core/application/supervisor_link/cancel_signal.h"
#include "core/application/supervisor_link/supervisor_link.h"
#include "core/application/worker_link/audio_link.h"
#include "core/application/worker_link/media_input.h"
#include "core/include/bulkhead/audio_decoder.h"
#include "core/include/bulkhead/host_options.h"
#include "core/worker_protocol/audio_validation.h"

namespace bulkhead::session {

// One open audio stream, which any number of workers serve one after the other.
// The caller waits for a range of samples; when a worker dies, the session asks
// the next worker for the samples that are still missing. Samples are copied
// out of the slots, which a worker can write, before the caller sees them. The
// session keeps the damage that workers have met; damaged samples count, so a
// range has the same samples whichever worker decodes it.
//
// Not thread-safe, except for Cancel().
class AudioSession final : private WorkerRecovery::Client {
 public:
  // Starts a worker and has it open the stream.
  static Result<std::unique_ptr<AudioSession>> Open(
      std::shared_ptr<supervisor_link::SupervisorLink> supervisor,
      const Source& source, AudioOptions options, const Limits& limits);
  AudioSession(const AudioSession&) = delete;
  AudioSession& operator=(const AudioSession&) = delete;

  const AudioMetadata& metadata() const { return opened_->metadata; }
  const RecoveryStats& recovery() const { return recovery_.stats(); }
  int worker_pid() const { return recovery_.worker_pid(); }

  // Begins each call of the application, as WorkerRecovery::BeginCall() does.
  Status BeginCall() { return recovery_.BeginCall(); }
  void Cancel() { recovery_.Cancel(); }

  std::vector<DamagedSamples> damage() const;
  Result<AudioSamples> SamplesPlayedInRange(double start_seconds,
                                            std::optional<double> stop_seconds);

 private:
  // The samples of each channel. All channels have the same number of samples.
  using Channels = std::vector<std::vector<float>>;

  AudioSession(std::shared_ptr<supervisor_link::SupervisorLink> supervisor,
               worker_link::MediaInput input, AudioOptions options,
               std::optional<AudioOptions> elsewhere, const Limits& limits,
               std::shared_ptr<supervisor_link::CancelSignal> cancel);

  Result<bool> OpenOn(worker_link::WorkerLink& link,
                      uint32_t incarnation) override;
  void WorkerLost(bool kept) override;
  void DeviceChanged() override;

  // Returns the number of the sample that is nearest to a time.
  int64_t SampleAt(double seconds) const;
  // Returns an empty block of samples in the stream's format.
  AudioSamples Describe(double pts_seconds) const;
  // Fetches `count` samples from `first` on, fewer where the stream ends.
  Result<Channels> Fetch(int64_t first, int64_t count);
  // Appends the next block of samples. Returns false if there are no more.
  Result<bool> FetchSome(int64_t first, int64_t count, Channels& channels);
  // Copies samples out of their slot. `count` are wanted from here on.
  Status Append(const worker_link::PublishedSamples& published, int64_t count,
                Channels& channels);
  // Puts silence in the place of samples that an earlier fetch had and that a
  // file which has become shorter has no more, and records them as damage.
  // `channels` begin with the sample `first` and end with the stream.
  Status FillShortened(int64_t first, int64_t count, Channels& channels);
  // Returns kResourceExhausted if a fetch of so many samples is too large.
  Status CheckRoom(uint64_t samples) const;
  // Returns kBadInput if damage is an error and samples of [first, end) are
  // known to be damaged.
  Status CheckDamage(int64_t first, int64_t end) const;

  const worker_link::MediaInput input_;
  const Limits limits_;
  AudioOptions options_;
  std::optional<AudioOptions> elsewhere_;  // the options for on_failure
  bool device_changed_ = false;  // since the last fetch: its samples are mixed
  std::optional<worker_protocol::OpenedAudio>
      opened_;  // reported by the first worker
  StreamMemory memory_;
  WorkerRecovery recovery_;
  std::optional<worker_link::AudioLink> audio_;  // link to the live worker
  frames::SampleDamageLog damage_;
  int64_t known_end_ = 0;    // after the last sample that any fetch had
  int64_t fetched_end_ = 0;  // after the last sample of the latest fetch
  bool playing_ = false;     // the worker's play continues after the last fetch
};

}  // namespace bulkhead::session
