// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <variant>

#include "core/application/frames/damage_log.h"
#include "core/application/worker_link/media_input.h"
#include "core/application/worker_link/stream_link.h"
#include "core/application/worker_link/unseen_frame.h"
#include "core/application/worker_link/worker_link.h"
#include "core/control/picture_hash.h"
#include "core/include/bulkhead/host.h"
#include "core/worker_protocol/frame_pool.h"
#include "core/worker_protocol/published_output.h"
#include "core/worker_protocol/step_deadline.h"
#include "ipc/damage_sign.h"
#include "ipc/frame_geometry.h"
#include "ipc/index_entry.h"
#include "ipc/schema/session.capnp.h"

namespace bulkhead::worker_link {

// A picture that the worker published and the ledger accepted.
struct PublishedFrame {
  std::shared_ptr<worker_protocol::FrameLease> lease;
  uint32_t width;
  uint32_t height;
  uint32_t stride;
  int64_t pts;       // in the time base; ipc::kNoTimestamp: none
  int64_t duration;  // in the time base; 0: unknown
  bool keyframe;
  // A number that is equal for equal pictures of one shape: the claim of the
  // worker, about every 16th row, or with a hasher (VideoLink) a hash of every
  // byte that is here.
  uint64_t fingerprint;
  bool damaged;          // parts of the picture are made up
  ipc::DamageSign sign;  // of damage: what showed it
  int64_t position;      // byte of its packet in the file; -1: unknown
  uint32_t check;        // as in ipc::IndexEntry
  std::shared_ptr<const worker_protocol::NativeFormat> native;  // null for RGB
  worker_protocol::PictureFacts facts;  // only for native pictures
};
// Returns what is damaged of a damaged picture, without the frame's number.
inline frames::Damage DamageOf(const PublishedFrame& frame) {
  return {{.pts = frame.pts,
           .duration = frame.duration,
           .position = frame.position,
           .sign = frame.sign}};
}
// All frames that the play asked for have come.
struct Paused {};
struct EndOfStream {};
using PlayEvent =
    std::variant<PublishedFrame, UnseenFrame, Paused, EndOfStream>;

// The frames that a play is to show. Timestamps are in the time base.
struct PlayRequest {
  enum class Start {
    kOnward,  // after the last frame of the previous play
    kBeginning,
    kKeyframe,  // at the last keyframe at or before `keyframe_before`
    kPacket,    // at the packet of `entry`
  };
  Start start = Start::kOnward;
  int64_t keyframe_before = 0;
  ipc::IndexEntry entry = {};       // a point of access
  int64_t skip_before = INT64_MIN;  // earlier frames are decoded, not published
  uint64_t max_frames = UINT64_MAX;  // the play pauses after this number
  // True if the caller waits for each frame of the play when it comes.
  bool in_turn = false;
};

// The host's side of the conversation with a worker about a video stream: the
// requests of ipc/schema/session.capnp that are for video. Trust, failure and
// threads are as in WorkerLink, which outlives the VideoLink.
class VideoLink {
 public:
  // Makes a pool whose slots have room for a picture of this layout.
  using MakePool =
      std::function<Result<std::shared_ptr<worker_protocol::FramePool>>(
          const ipc::FrameGeometry&)>;

  // With `hasher`, which may be null and must outlive the link, each picture is
  // hashed when it comes. `make_larger_pool` is called where a frame that keeps
  // its own size has outgrown the slots.
  VideoLink(WorkerLink& link, const PictureHasher* hasher,
            MakePool make_larger_pool)
      : link_(link),
        hasher_(hasher),
        make_larger_pool_(std::move(make_larger_pool)) {}

  // Opens the stream. The metadata that is returned was checked for
  // plausibility. `known` is the metadata that an earlier worker of the session
  // reported, or null.
  Result<VideoMetadata> Open(const VideoOptions& options, uint32_t incarnation,
                             const Limits& limits, const MediaInput& input,
                             const VideoMetadata* known);
  // Makes the worker read all packets, and passes each part of the index to
  // `take_untrusted`. An error of `take_untrusted` ends the scan on this side
  // only: the worker goes on sending.
  Status Scan(const std::function<Status(std::span<const ipc::IndexEntry>)>&
                  take_untrusted);
  // Begins a step of the caller: a search for one frame, which may take any
  // number of plays. A worker that makes the step go on and on is late
  // (StepDeadline::kMostTimeouts).
  void BeginStep();
  // Asks for frames for `user`, and ends the previous play, whoever's it was.
  // The pool must be attached.
  Status Play(const void* user, const PlayRequest& play);
  // Returns whether the worker's latest play is one of `user`'s, so that it may
  // be gone on with.
  bool PlaysFor(const void* user) const { return user_ == user; }
  // Grants free slots and waits for the next event of the last play. Returns
  // kResourceExhausted if the application holds every slot.
  Result<PlayEvent> Await();
  // Returns true once the worker has died.
  bool dead() const { return link_.dead(); }
  // Returns whether the worker, which has died, had decoded the frame that the
  // caller waits for and was at the one after it. That is only its claim. It
  // is believed of plays in which a worker may decode a frame while it converts
  // another (Play.overlap), and a worker can die over either frame anyway.
  bool was_ahead() const;
  // Returns the timestamp of the packet at which the latest play without
  // kOnward began, or nullopt if that play began at the beginning. The value is
  // known after the first event of the play.
  std::optional<int64_t> entry_untrusted() const { return entry_untrusted_; }

 private:
  // Does the work of Await() under deadline_, which must be set.
  Result<PlayEvent> AwaitWithinDeadline();
  // Takes one reply to a play. Returns nullopt if the reply belongs to an
  // earlier play, or is no event by itself.
  Result<std::optional<PlayEvent>> AdoptEventIfValid(
      ipc::schema::Reply::Reader reply_untrusted);
  Result<PublishedFrame> AdoptFrameIfValid(
      ipc::schema::PublishedFrame::Reader frame_untrusted);
  Status AdoptEntryIfValid(ipc::schema::Entered::Reader entered_untrusted);
  Status AdoptUnseenIfValid(ipc::schema::Unseen::Reader unseen_untrusted);
  Status AdoptNeedIfValid(ipc::schema::NeedsPool::Reader needs_untrusted);
  Status AttachLargerPool(const ipc::FrameGeometry& geometry);
  // Returns the fingerprint of a picture: the worker's, or the hash.
  uint64_t FingerprintOf(ipc::schema::PublishedFrame::Reader frame_untrusted,
                         const std::byte* slot) const;
  // Counts frames that cannot be the one that the caller searches.
  Status CountPassed(uint64_t frames);

  WorkerLink& link_;
  CurrentPlay play_;
  const void* user_ = nullptr;  // of the last play
  const PictureHasher* const hasher_;
  const MakePool make_larger_pool_;
  // Set by Open(). With autoscale every frame has this shape, else the latest
  // one has it.
  bool autoscale_ = true;
  uint64_t max_pixels_ = 0;
  worker_protocol::PictureShape shape_;
  bool may_overlap_ = false;  // set by Open()
  bool overlaps_ = false;     // the last play
  bool met_frame_ = false;    // of the last play
  uint32_t frames_ = 0;       // of all plays, as RegionHeader::decoded
  // The part of the last play that has not come yet. Replies must stay within
  // this part.
  uint64_t frames_left_ = 0;
  int64_t skip_before_ = INT64_MIN;
  bool seeking_ = false;   // the first event is still to come
  bool entering_ = false;  // the worker has yet to say where the play began
  // Where the play must begin, unless it begins at the beginning: at a packet
  // with this timestamp, or, with to_beginning_, nowhere else.
  bool to_beginning_ = false;
  std::optional<int64_t> to_packet_;
  std::optional<int64_t> entry_untrusted_;
  int64_t media_bytes_ = 0;
  uint64_t max_passed_ = 0;   // Limits::index_frames
  uint64_t passed_left_ = 0;  // number of frames that may still be passed
  std::optional<uint32_t> stalled_at_;  // NeedsSlot.grants of the last one
  // The picture for which the worker needs larger slots.
  std::optional<ipc::FrameGeometry> outgrown_by_;
  bool asked_for_pool_ = false;  // since the last frame
  std::optional<worker_protocol::StepDeadline>
      deadline_;             // of the step, from its first wait on
  bool progressed_ = false;  // the deadline is to be renewed
  worker_protocol::StepDeadline::Clock::time_point
      left_at_;                     // the end of the last Await()
  std::deque<UnseenFrame> unseen_;  // received, and not yet returned by Await()
};

}  // namespace bulkhead::worker_link
