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

// One open audio stream. Workers serve it one after the other: when a worker
// dies, another takes its place. The caller asks for a range of samples; after
// a death, the session asks the next worker for the samples still missing.
//
// Trust: workers are hostile. AudioLink checks every reply. A worker can write
// its slots at any time, so the session copies samples out of the slots before
// the caller sees them.
//
// The session keeps the damage that workers have reported. Damaged samples keep
// their numbers, with silence in their place. So a range has the same samples
// whichever worker decodes it.
//
// Owned by the AudioDecoder. Not thread-safe, except for Cancel().
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

  // Call this at the beginning of each call of the application; see
  // WorkerRecovery::BeginCall().
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
  // Fetches `count` samples from the sample `first` on; fewer where the stream
  // ends.
  Result<Channels> Fetch(int64_t first, int64_t count);
  // Waits for the worker's next event. `count` samples from `first` on are
  // still missing. Appends samples to `channels`; records damage. Returns false
  // if there are no more samples.
  Result<bool> FetchSome(int64_t first, int64_t count, Channels& channels);
  // Appends published samples to `channels`. `count` is the number of samples
  // that the caller still waits for.
  Status Append(const worker_link::PublishedSamples& published, int64_t count,
                Channels& channels);
  // Handles a file that has become shorter since an earlier fetch. For samples
  // that the earlier fetch had and that are now gone, appends silence and
  // records damage. `channels` contain the samples from `first` to the present
  // end of the stream; `count` were requested.
  Status FillShortened(int64_t first, int64_t count, Channels& channels);
  // Returns kResourceExhausted if one call may not return so many samples
  // (Limits::session_bytes).
  Status CheckRoom(uint64_t samples) const;
  // Returns kBadInput if on_corrupt is kError and a sample of [first, end) is
  // known to be damaged.
  Status CheckDamage(int64_t first, int64_t end) const;

  const worker_link::MediaInput input_;
  const Limits limits_;
  AudioOptions options_;
  std::optional<AudioOptions> elsewhere_;  // the options for on_failure
  // True if the samples that the present call has collected so far are from the
  // device that failed, and must be fetched again.
  bool device_changed_ = false;
  // Reported by the first worker.
  std::optional<worker_protocol::OpenedAudio> opened_;
  StreamMemory memory_;
  WorkerRecovery recovery_;
  std::optional<worker_link::AudioLink> audio_;  // link to the live worker
  frames::SampleDamageLog damage_;
  // Sample numbers:
  int64_t known_end_ = 0;    // the largest end of all fetches
  int64_t fetched_end_ = 0;  // the end of the latest fetch
  bool playing_ = false;     // the worker has a play (request) for this fetch
};

}  // namespace bulkhead::session
