// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
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
#include "core/application/session/found_frames.h"
#include "core/application/session/frame_finder.h"
#include "core/application/session/frame_sequence.h"
#include "core/application/session/nearby_finder.h"
#include "core/application/session/shadow_feed.h"
#include "core/application/session/stream_session.h"
#include "core/application/supervisor_link/cancel_signal.h"
#include "core/application/supervisor_link/supervisor_link.h"
#include "core/application/worker_link/media_input.h"
#include "core/application/worker_link/video_link.h"
#include "core/control/picture_hash.h"
#include "core/include/bulkhead/host.h"
#include "core/worker_protocol/frame_pool.h"
#include "ipc/damage_sign.h"
#include "ipc/frame_geometry.h"

namespace bulkhead::session {

// One open video stream, which any number of workers serve one after the other.
// The session keeps what no worker can be trusted to keep: the source, the
// options, the index, the memory of the frames, the damage log, and the record
// of the frames that Next() delivered (FrameSequence).
//
// A worker has one play at a time, which serves either Next() or the access by
// number: the user that needs the play starts a new one and tells the previous
// user to forget the old one.
//
// Not thread-safe, like the VideoDecoder that owns the session.
class VideoSession final : public StreamSession {
 public:
  // Starts a worker and has it open the stream.
  static Result<std::unique_ptr<VideoSession>> Open(
      std::shared_ptr<SupervisorLink> supervisor, const Source& source,
      VideoOptions options, const Limits& limits);

  const VideoMetadata& metadata() const { return metadata_; }

  // The following calls behave as VideoDecoder documents them.
  Result<std::optional<Frame>> Next();
  void Rewind();
  Result<uint64_t> FrameCount();
  Result<std::vector<int64_t>> KeyFrameIndices();
  Result<Frame> FrameAt(int64_t index);
  Result<SecondsRange> PlayedRange();
  Result<Frame> FramePlayedAt(double seconds);
  Result<FrameBatch> FramesAt(std::span<const int64_t> indices,
                              std::span<std::byte> into);
  Result<FrameBatch> FramesInRange(int64_t start, std::optional<int64_t> stop,
                                   int64_t step, std::span<std::byte> into);
  Result<FrameBatch> FramesPlayedAt(std::span<const double> seconds,
                                    std::span<std::byte> into);
  Result<FrameBatch> FramesPlayedInRange(double start, double stop,
                                         std::optional<double> fps,
                                         std::span<std::byte> into);
  Result<FrameBatch> AllFrames(std::optional<double> fps,
                               std::span<std::byte> into);
  std::vector<DamagedRange> damage() const;

 private:
  using FrameOrDamage = std::variant<Frame, Damage>;

  VideoSession(std::shared_ptr<SupervisorLink> supervisor, MediaInput input,
               VideoOptions options, std::optional<VideoOptions> elsewhere,
               const Limits& limits, std::shared_ptr<CancelSignal> cancel);

  Result<bool> OpenStream(WorkerLink& link, uint32_t incarnation) override;
  Result<std::shared_ptr<FramePool>> MakePool() const override;
  void LinkLost() override;
  void OptionsChanged() override;
  // Returns a pool with room for frames of this layout, in place of `present`,
  // which the worker has.
  Result<std::shared_ptr<FramePool>> LargerPool(
      const FramePool& present, const ipc::FrameGeometry& geometry);
  // Returns how many slots the session may have.
  uint32_t MostSlots() const;
  bool native() const {
    return options_.output_format == OutputFormat::kNative;
  }
  // Forgets what is known of the worker's play, because the play is lost or is
  // about to be used for something else.
  void ForgetPlay();
  // Calls WorkerRecovery::Run(), and ForgetPlay() after an error.
  template <typename Call>
  auto WithRecovery(WorkerRecovery::Step asked, const Call& step)
      -> decltype(step());

  // EnsureIndex() makes the index unless there is one. EnsureTimes() also
  // computes the times of the frames.
  Status EnsureIndex();
  Status EnsureTimes();
  Result<FrameIndex> MakeIndex();
  Result<FrameIndex> ScanForIndex();
  // Adds to the metadata what the index shows of the content.
  void TellContent();
  Result<FrameFinder::Found> FindOn(VideoLink& video, uint64_t index);
  // Returns the frame with the number `index`, or the damage in place of the
  // frame.
  Result<FrameOrDamage> Find(uint64_t index);
  // Does the same as Find(), but returns kBadInput for damage.
  Result<Frame> Fetch(uint64_t index);
  // Returns kInvalidArgument if the frames cannot be in a batch.
  Status CheckBatches() const;
  // Returns kInvalidArgument if the frame is of another size than the first.
  Status CheckSize(const Frame& frame) const;
  // EmptyBatch() returns a batch without pictures. MostFrames() returns the
  // most pictures that a batch may have.
  FrameBatch EmptyBatch() const;
  uint64_t MostFrames() const;
  Result<FrameBatch> FetchBatch(const Result<FrameChoice>& choice,
                                std::span<std::byte> into);
  Status DamagedError(const Damage& damage) const;
  std::string DescribeDamaged(const Damage& damage) const;
  // Says what is missing at the end of the file.
  std::string DescribeMissingEnd(const Damage& end) const;
  // Returns the sign of a frame that the index has and a pass does not give.
  ipc::DamageSign WhyMissing() const;
  // Checks at the end of the stream that every frame of the index came, and
  // that the file is as long as it was. What did not come is damage, and an
  // error if that is what on_corrupt says.
  Status CheckEnd();
  // Records the loss of the frames after the first `got` if the file has
  // become shorter. Returns false if there is none.
  bool AddUncounted(uint64_t got);
  Frame MakeFrame(PublishedFrame&& published, uint64_t index) const;

  VideoOptions options_;
  std::optional<VideoOptions> elsewhere_;  // the options for on_failure
  // Set when the first worker opens the stream. Later only TellContent() and a
  // change of the device change it.
  VideoMetadata metadata_;
  std::shared_ptr<const std::string> device_;  // null before metadata_ is set

  // Set if pictures may have to be compared with those of another device.
  std::optional<PictureHasher> hasher_;
  std::optional<VideoLink> video_;  // link to the live worker
  // The size of the pools that the worker had before the present one.
  uint64_t outgrown_bytes_ = 0;
  DamageLog damage_;
  FrameSequence sequence_;
  FoundFrames found_;
  std::optional<FrameFinder> finder_;  // set once there is an index
  // The index lists every frame of the file as it was when it was opened.
  bool index_is_whole_ = false;
  // The frames after the index that the file has lost since it was opened.
  uint64_t lost_frames_ = 0;
  std::optional<FrameTimes> times_;     // for the frames of the index
  std::optional<NearbyFinder> nearby_;  // replaces finder_ if kApproximate
  std::unique_ptr<ShadowFeed> shadow_;  // null if the stream has no shadow
};

}  // namespace bulkhead::session
