// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/application/frames/damage_log.h"
#include "core/application/frames/frame_times.h"
#include "core/application/session/frame_finder.h"
#include "core/application/session/frame_sequence.h"
#include "core/application/session/nearby_finder.h"
#include "core/application/session/stream_memory.h"
#include "core/application/session/video_pools.h"
#include "core/application/session/witness.h"
#include "core/application/session/worker_recovery.h"
#include "core/application/supervisor_link/cancel_signal.h"
#include "core/application/supervisor_link/supervisor_link.h"
#include "core/application/worker_link/media_input.h"
#include "core/application/worker_link/video_link.h"
#include "core/include/bulkhead/host.h"

namespace bulkhead::session {

// One open video stream, which any number of workers serve one after the other.
// The session keeps what no worker can be trusted to keep: the source, the
// options, the index, the memory of the frames, the damage log, and the record
// of the frames that Next() delivered (FrameSequence).
//
// A worker has one play at a time, which serves either Next() or the access by
// number: each goes on with the play that is its own, or starts a new one.
//
// Not thread-safe, except for Cancel().
class VideoSession final : private WorkerRecovery::Client {
 public:
  using FrameOrDamage = std::variant<Frame, frames::Damage>;

  // Starts a worker and has it open the stream.
  static Result<std::unique_ptr<VideoSession>> Open(
      std::shared_ptr<supervisor_link::SupervisorLink> supervisor,
      const Source& source, VideoOptions options, const Limits& limits);
  VideoSession(const VideoSession&) = delete;
  VideoSession& operator=(const VideoSession&) = delete;

  const std::string& name() const { return input_.name(); }
  const VideoMetadata& metadata() const { return metadata_; }
  const VideoOptions& options() const { return options_; }
  const Limits& limits() const { return limits_; }
  const RecoveryStats& recovery() const { return recovery_.stats(); }
  int worker_pid() const { return recovery_.worker_pid(); }

  // Begins each call of the application, as WorkerRecovery::BeginCall() does.
  Status BeginCall() { return recovery_.BeginCall(); }
  void Cancel() { recovery_.Cancel(); }

  // The following calls behave as VideoDecoder documents them.
  Result<std::optional<Frame>> Next();
  void Rewind() { sequence_.Rewind(); }
  Result<uint64_t> FrameCount();
  Result<std::vector<int64_t>> KeyFrameIndices();
  Result<Frame> FrameAt(int64_t index);
  Result<SecondsRange> PlayedRange();
  Result<Frame> FramePlayedAt(double seconds);
  std::vector<DamagedRange> damage() const;

  // Index() makes the index unless there is one. Times() also computes the
  // times of the frames.
  Result<const frames::FrameIndex*> Index();
  Result<const frames::FrameTimes*> Times();
  // Begins a call that asks for frames by number, and ends it once the caller
  // is sure to get them.
  void BeginFrames() { witness_.Begin(); }
  void FramesDelivered() { witness_.Delivered(); }
  // Returns the frame with the number `index`, which the index has, or the
  // damage in place of the frame.
  Result<FrameOrDamage> Find(uint64_t index);
  Status ErrorOf(const frames::Damage& damage) const;

 private:
  VideoSession(std::shared_ptr<supervisor_link::SupervisorLink> supervisor,
               worker_link::MediaInput input, VideoOptions options,
               std::optional<VideoOptions> elsewhere, const Limits& limits,
               std::shared_ptr<supervisor_link::CancelSignal> cancel);

  Result<bool> OpenOn(worker_link::WorkerLink& link,
                      uint32_t incarnation) override;
  void WorkerLost(bool kept) override;
  void DeviceChanged() override;
  // Returns whether a later worker opened the stream that the first one did.
  bool IsSame(const VideoMetadata& opened) const;

  Result<FrameSequence::Event> NextOn(worker_link::VideoLink& video);
  Result<FrameFinder::Found> FindOn(worker_link::VideoLink& video,
                                    uint64_t index);
  Result<frames::FrameIndex> ScanOn(worker_link::VideoLink& video);
  Result<frames::FrameIndex> ScanForIndex();
  // Returns the frame with the number `index`, or kBadInput for damage.
  Result<Frame> Fetch(uint64_t index);

  const worker_link::MediaInput input_;
  const Limits limits_;
  VideoOptions options_;
  std::optional<VideoOptions> elsewhere_;  // the options for on_failure
  // Set when the first worker opens the stream. Later only its index, and the
  // backend and device of each new worker, change it.
  VideoMetadata metadata_;
  std::shared_ptr<const std::string> device_;  // null before metadata_ is set

  VideoPools pools_;
  StreamMemory memory_;
  WorkerRecovery recovery_;
  Witness witness_;
  std::optional<worker_link::VideoLink> video_;  // link to the live worker
  frames::DamageLog damage_;
  FrameSequence sequence_;
  std::optional<FrameFinder> finder_;  // set once there is an index
  // The index lists every frame of the file as it was when it was opened.
  bool index_is_whole_ = false;
  // The frames after the index that the file has lost since it was opened.
  uint64_t lost_frames_ = 0;
  std::optional<frames::FrameTimes> times_;  // for the frames of the index
  std::optional<NearbyFinder> nearby_;       // replaces finder_ if kApproximate
};

}  // namespace bulkhead::session
