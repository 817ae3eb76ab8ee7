// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <variant>

#include "core/application/worker_link/media_input.h"
#include "core/application/worker_link/picture_adoption.h"
#include "core/application/worker_link/play_request.h"
#include "core/application/worker_link/unseen_frame.h"
#include "core/application/worker_link/video_play.h"
#include "core/application/worker_link/worker_link.h"
#include "core/control/picture_hasher.h"
#include "core/include/bulkhead/host.h"
#include "core/worker_protocol/frame_pool.h"
#include "core/worker_protocol/step_deadline.h"
#include "ipc/frame_geometry.h"
#include "ipc/index_entry.h"
#include "ipc/schema/session.capnp.h"

namespace bulkhead::worker_link {

// The end of a play (a PlayRequest that was sent): all its frames have come.
struct Paused {};
// The end of a play and of the stream.
struct EndOfStream {};
// An event of a play. Events come in the order of the stream.
using PlayEvent =
    std::variant<PublishedFrame, UnseenFrame, Paused, EndOfStream>;

// The host's side of the conversation with a worker about a video stream: opens
// the stream, asks for the index and for frames, and waits for the replies
// within their deadlines. The VideoLink owns a VideoPlay and a PictureAdoption,
// which check that replies fit the request. The messages are described in
// ipc/schema/session.capnp.
//
// Trust, failure and threads are as in WorkerLink, which outlives the
// VideoLink.
class VideoLink {
 public:
  // Makes a pool whose slots have room for a picture of this layout.
  using MakePool =
      std::function<Result<std::shared_ptr<worker_protocol::FramePool>>(
          const ipc::FrameGeometry&)>;

  // Each picture is hashed on arrival if `hasher` is not null. `hasher` must
  // outlive the VideoLink. `make_larger_pool` is called when a frame does not
  // fit into the slots, which happens only without autoscale.
  VideoLink(WorkerLink& link, const PictureHasher* hasher,
            MakePool make_larger_pool)
      : link_(link),
        pictures_(link, hasher),
        play_(link),
        make_larger_pool_(std::move(make_larger_pool)) {}

  // Opens the stream, and returns its metadata, validated. `incarnation` is 1
  // for the first worker of the session. `known` is the metadata that an
  // earlier worker reported, or null.
  Result<VideoMetadata> Open(const VideoOptions& options, uint32_t incarnation,
                             const Limits& limits, const MediaInput& input,
                             const VideoMetadata* known);
  // Makes the worker read all packets, and passes each part of the index to
  // `take_untrusted`. If `take_untrusted` returns an error, so does Scan(), but
  // the worker still sends the rest of the index.
  Status Scan(const std::function<Status(std::span<const ipc::IndexEntry>)>&
                  take_untrusted);
  // Begins a step: the caller's search for one frame, which may take any number
  // of plays. All plays of a step share one deadline, which events renew a
  // limited number of times (StepDeadline::kMostTimeouts).
  void BeginStep();
  // Asks for frames, and ends the previous play. `user` is the address of the
  // object that asks, see PlaysFor(). The pool must be attached.
  Status Play(const void* user, const PlayRequest& play);
  // Returns whether `user` asked for the latest play. If not, `user` must not
  // continue it with kOnward.
  bool PlaysFor(const void* user) const { return user_ == user; }
  // Grants free slots and waits for the next event of the latest play. Returns
  // kResourceExhausted if the application holds every slot.
  Result<PlayEvent> Await();
  // Returns true once the worker has died.
  bool dead() const { return link_.dead(); }
  // Returns whether the worker died one frame ahead: it claims that it had
  // decoded the frame that the caller waits for, and died over the next frame.
  // The claim is believed only in a play in which a worker may decode one frame
  // while it converts another (Play.overlap). A false claim gains the worker
  // nothing, since it can choose the frame over which it dies anyway.
  bool was_ahead() const;
  // Returns the timestamp of the packet at which the latest seek (a play that
  // is not kOnward) began, or nullopt if it began at the beginning of the
  // stream. Call it after the first event of the play.
  std::optional<int64_t> entry_untrusted() const {
    return play_.entry_untrusted();
  }

 private:
  // Does the work of Await() under deadline_, which must be set.
  Result<PlayEvent> AwaitWithinDeadline();
  // Validates one reply to a play, and acts on it. Returns nullopt if the reply
  // belongs to an earlier play, or is not an event (for example, a request for
  // a slot).
  Result<std::optional<PlayEvent>> AdoptEventIfValid(
      ipc::schema::Reply::Reader reply_untrusted);
  // Replaces the pool by one whose slots have room for `geometry`.
  Status AttachLargerPool(const ipc::FrameGeometry& geometry);

  WorkerLink& link_;
  PictureAdoption pictures_;
  VideoPlay play_;
  const void* user_ = nullptr;  // the object that asked for the latest play
  const MakePool make_larger_pool_;
  // True if a play of this stream may overlap (Play.overlap); set by Open().
  bool may_overlap_ = false;
  bool overlaps_ = false;   // the latest play may overlap
  bool met_frame_ = false;  // a frame of the latest play has come
  bool seeking_ = false;    // the first event of a seek has yet to come
  // Set if the worker has asked for another slot in this play: the number of
  // grants that it had taken when it last asked (NeedsSlot.grants).
  std::optional<uint32_t> stalled_at_;
  // The picture for which the worker needs larger slots.
  std::optional<ipc::FrameGeometry> outgrown_by_;
  // The deadline of the step, set at its first wait.
  std::optional<worker_protocol::StepDeadline> deadline_;
  bool progressed_ = false;  // the next Await() renews the deadline
  // The time at which the latest Await() returned.
  worker_protocol::StepDeadline::Clock::time_point left_at_;
};

}  // namespace bulkhead::worker_link
