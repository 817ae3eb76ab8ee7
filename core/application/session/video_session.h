// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "core/application/frames/damage_log.h"
#include "core/application/frames/frame_selection.h"
#include "core/application/frames/frame_times.h"
#include "core/application/session/frame_finder.h"
#include "core/application/session/nearby_finder.h"
#include "core/application/session/session_states.h"
#include "core/application/session/worker_recovery.h"
#include "core/application/supervisor_link/supervisor_link.h"
#include "core/application/worker_link/media_input.h"
#include "core/application/worker_link/video_link.h"
#include "core/include/bulkhead/host.h"
#include "core/worker_protocol/frame_pool.h"

namespace bulkhead::session {

// One open video stream, across any number of workers: the reason why a caller
// does not notice that one died.
//
// It keeps what a worker must never be trusted to keep: the source, the
// options, the index, the frames' memory, and for each frame that Next()
// delivered its timestamp and fingerprint, and what it left out or told of as
// damaged. A new worker seeks to the keyframe
// before the last delivered frame and decodes on; the frames that were already
// delivered come again, are compared with the record and dropped, and what
// follows is what the caller is owed. Where the record does not match (streams
// that do not seek exactly, timestamps that repeat), it decodes from the
// beginning instead, which always does.
//
// WorkerRecovery starts the workers and decides when there were deaths enough.
//
// Not thread-safe, like the VideoDecoder that owns it.
class VideoSession : private WorkerRecovery::Client {
 public:
  static Result<std::unique_ptr<VideoSession>> Open(
      std::shared_ptr<SupervisorLink> supervisor, const Source& source,
      VideoOptions options, const Limits& limits);

  const VideoMetadata& metadata() const { return metadata_; }
  const RecoveryStats& recovery() const { return recovery_.stats(); }
  int worker_pid() const {
    const WorkerLink* const link = recovery_.link_if_any();
    return link ? link->pid() : 0;
  }
  // Not OK in a fork() of the process that opened it.
  Status CheckProcess() const { return recovery_.CheckProcess(); }

  Result<std::optional<Frame>> Next();
  void Rewind();
  Result<uint64_t> FrameCount();
  Result<std::vector<int64_t>> KeyFrameIndices();
  Result<Frame> FrameAt(int64_t index);
  Result<SecondsRange> PlayedRange();
  Result<Frame> FramePlayedAt(double seconds);
  Result<FrameBatch> FramesAt(std::span<const int64_t> indices);
  Result<FrameBatch> FramesInRange(int64_t start, std::optional<int64_t> stop,
                                   int64_t step);
  Result<FrameBatch> FramesPlayedAt(std::span<const double> seconds);
  Result<FrameBatch> FramesPlayedInRange(double start, double stop,
                                         std::optional<double> fps);
  Result<FrameBatch> AllFrames(std::optional<double> fps);
  std::vector<DamagedRange> damage() const;

 private:
  // What the worker's current play is for.
  enum class Mode {
    kIdle,        // nothing, or something that is not known any more
    kSequential,  // the frames of Next(), from the end of delivered_ on
    kIndexed,     // FrameAt; finder_ knows where it is
  };
  // A frame of the sequence: delivered, or damaged and done with.
  struct Stamp {
    int64_t pts;
    uint64_t fingerprint;  // 0: it was lost
    bool operator==(const Stamp&) const = default;
  };
  using Event = std::variant<Frame, Damage, EndOfStream>;

  VideoSession(std::shared_ptr<SupervisorLink> supervisor, MediaInput input,
               VideoOptions options, const Limits& limits);

  WorkerRecovery::Settings RecoverySettings() const;
  Status OpenOn(WorkerLink& link, uint32_t incarnation) override;
  void WorkerLost(bool gone) override;
  // As WorkerRecovery::Run. After an error nothing is known of the play.
  template <typename Step>
  auto WithRecovery(SessionEvent asked, const Step& step) -> decltype(step());

  // The next frame of the sequence.
  Result<Event> NextEvent();
  Status ResumeSequential();
  // Drops delivered frames until the record ends; false: they differ.
  Result<bool> DropDelivered(size_t first);
  Status EnsureIndex();
  Status EnsureTimes();
  Result<FrameIndex> MakeIndex();
  Result<FrameIndex> ScanForIndex();
  // What the content tells becomes part of the metadata.
  void TellContent();
  Result<FrameFinder::Found> FindOn(VideoLink& video, uint64_t index);
  // Of no pictures; and how many may be in one.
  FrameBatch EmptyBatch() const;
  uint64_t MostFrames() const;
  Result<FrameBatch> FetchBatch(const Result<FrameChoice>& choice);
  // kBadInput for a damaged frame, with `damaged` set.
  Result<Frame> Fetch(uint64_t index, bool* damaged = nullptr);
  Status DamagedError(const Damage& damage) const;

  Frame MakeFrame(PublishedFrame&& published, uint64_t index) const;

  // Constant after Open.
  const MediaInput input_;
  const VideoOptions options_;
  const Limits limits_;
  VideoMetadata metadata_;
  std::shared_ptr<const std::string> device_;

  WorkerRecovery recovery_;
  std::optional<VideoLink> video_;  // to the worker that lives
  std::shared_ptr<FramePool> pool_;
  Mode mode_ = Mode::kIdle;

  std::vector<Stamp> delivered_;  // by Next(), since the last Rewind
  bool delivered_ascend_ = true;
  bool ended_ = false;

  DamageLog damage_;
  std::optional<FrameFinder> finder_;   // once there is an index
  std::optional<FrameTimes> times_;     // of that index
  std::optional<NearbyFinder> nearby_;  // in place of it: kApproximate
};

}  // namespace bulkhead::session
