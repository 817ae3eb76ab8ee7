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
#include "core/application/session/approximate_finder.h"
#include "core/application/session/frame_finder.h"
#include "core/application/session/frame_sequence.h"
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

// One open video stream. Workers serve it one after the other: when a worker
// dies, another takes its place.
//
// The session keeps all that must survive a worker: the source, the options,
// the index, the memory of the frames, the damage log, and the record of the
// frames that Next() has delivered (FrameSequence).
//
// A worker has one play (request for frames) at a time. Next() and the access
// by number (FrameFinder, ApproximateFinder) share it: each continues the play
// if it is its own, and begins a new play if it is not.
//
// Trust: workers are hostile. WorkerLink and VideoLink check every reply.
// Frames of a later worker are compared with frames delivered before. Errors
// are as VideoDecoder documents them. Owned by the VideoDecoder. Not
// thread-safe, except for Cancel().
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

  // Call this at the beginning of each call of the application; see
  // WorkerRecovery::BeginCall(). Begins the step of Next()
  // (VideoLink::BeginStep()); Find() begins steps of its own.
  Status BeginCall();
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

  // Returns the index. The first call makes it: from the options, if they have
  // one, or by a scan of all packets.
  Result<const frames::FrameIndex*> Index();
  // Returns the times at which frames are shown. Makes the index first.
  Result<const frames::FrameTimes*> Times();
  // One call of the application calls BeginFrames(), then Find() any number of
  // times, and FramesDelivered() once it is sure that all frames are returned.
  void BeginFrames() { witness_.Begin(); }
  void FramesDelivered() { witness_.Delivered(); }
  // Returns the frame with the number `index`, or the damage because of which
  // there is no frame. `index` must be less than the size of the index.
  Result<FrameOrDamage> Find(uint64_t index);
  // Returns kBadInput, with a description of the damage.
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
  // Returns whether `opened`, reported by a later worker, is the same stream as
  // metadata_.
  bool IsSame(const VideoMetadata& opened) const;

  // Carry out one step on the present worker, without recovery.
  Result<FrameSequence::Event> NextOn(worker_link::VideoLink& video);
  Result<FrameFinder::Found> FindOn(worker_link::VideoLink& video,
                                    uint64_t index);
  Result<frames::FrameIndex> ScanOn(worker_link::VideoLink& video);
  // Scans with recovery. Records frames that the file has lost meanwhile.
  Result<frames::FrameIndex> ScanForIndex();
  // Calls Find() for one frame, and returns kBadInput for damage.
  Result<Frame> Fetch(uint64_t index);

  const worker_link::MediaInput input_;
  const Limits limits_;
  VideoOptions options_;
  std::optional<VideoOptions> elsewhere_;  // the options for on_failure
  // Set when the first worker opens the stream. Later, only an index adds to
  // it, and each new worker sets its backend and device.
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
  // True if a scan found every frame that the file had when it was opened.
  bool index_is_whole_ = false;
  // The number of frames that the file has lost since it was opened. They came
  // after the last frame of the index.
  uint64_t lost_frames_ = 0;
  std::optional<frames::FrameTimes> times_;  // for the frames of the index
  // Used instead of finder_ if the seek_mode is kApproximate.
  std::optional<ApproximateFinder> approximate_finder_;
};

}  // namespace bulkhead::session
