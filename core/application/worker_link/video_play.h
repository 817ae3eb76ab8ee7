// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "core/application/worker_link/picture_adoption.h"
#include "core/application/worker_link/play_request.h"
#include "core/application/worker_link/stream_link.h"
#include "core/application/worker_link/unseen_frame.h"
#include "core/application/worker_link/worker_link.h"
#include "ipc/schema/session.capnp.h"

namespace bulkhead::worker_link {

// The latest play (PlayRequest) of a video stream: the packet at which it must
// begin, the frames that the worker may still publish, and the number of frames
// that the worker may still pass before the wanted frame. Every reply to the
// play is checked against these limits.
//
// Failure: a worker whose reply contradicts the request is killed, and the
// function returns the error. kResourceExhausted means that too many frames
// precede the wanted one; the worker lives on, since the file may be the cause.
//
// Owned by VideoLink. Threads and trust are as in WorkerLink, which
// outlives this object.
class VideoPlay {
 public:
  explicit VideoPlay(WorkerLink& link) : link_(link) {}

  // Sets the size of the media, and the number of frames that a step may pass
  // before the wanted frame (Limits::index_frames).
  void Open(int64_t media_bytes, uint64_t max_passed);
  // Begins the next play, which ends the previous one.
  void Begin(const PlayRequest& play);
  // Ends the play. Later replies to it are dropped.
  void Stop() { play_.playing = false; }
  // Begins a step (a search for one frame), which may pass max_passed frames.
  void BeginStep() { passed_left_ = max_passed_; }

  uint32_t epoch() const { return play_.epoch; }
  // Returns the number of frames that the worker has yet to publish.
  uint64_t frames_left() const { return frames_left_; }
  // Returns the timestamp of the packet at which the latest seek (a play that
  // is not kOnward) began, or nullopt if it began at the beginning of the
  // stream. Call it after the first event of the play.
  std::optional<int64_t> entry_untrusted() const { return entry_untrusted_; }

  // Returns true if the reply belongs to this play, false if it belongs to an
  // earlier one. Kills the worker if the reply belongs to no play, or if it
  // comes before the report of where the play began.
  Result<bool> Owns(ipc::schema::Reply::Reader reply_untrusted) const;
  // Checks that the play may publish this frame, and counts it.
  Status CountIfValid(const PublishedFrame& frame);
  // Checks and stores the report of where the play began.
  Status AdoptEntryIfValid(ipc::schema::Entered::Reader entered_untrusted);
  // Checks and stores a report of frames that the worker met and did not
  // publish. TakeUnseen() then returns the frames one by one, and nullopt after
  // the last.
  Status AdoptUnseenIfValid(ipc::schema::Unseen::Reader unseen_untrusted);
  std::optional<UnseenFrame> TakeUnseen();

 private:
  // Counts frames that the worker has passed in this step; none of them is the
  // wanted one. Returns kResourceExhausted if there are too many.
  Status CountPassed(uint64_t frames);

  WorkerLink& link_;
  CurrentPlay play_;
  int64_t media_bytes_ = 0;
  uint64_t max_passed_ = 0;
  uint64_t passed_left_ = 0;  // number of frames that may still be passed
  uint64_t frames_left_ = 0;
  int64_t skip_before_ = INT64_MIN;  // as in PlayRequest
  bool entering_ = false;  // the worker has yet to say where the play began
  // The point at which the play must begin. to_beginning_: the beginning of the
  // stream. to_packet_: the packet with this timestamp or, if no seek finds it,
  // the beginning. Neither is set if the worker chooses the keyframe.
  bool to_beginning_ = false;
  std::optional<int64_t> to_packet_;
  std::optional<int64_t> entry_untrusted_;
  std::deque<UnseenFrame> unseen_;  // received, and not yet taken
};

}  // namespace bulkhead::worker_link
