// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <variant>

#include "core/application/worker_link/media_input.h"
#include "core/application/worker_link/stream_link.h"
#include "core/application/worker_link/worker_link.h"
#include "core/include/bulkhead/host.h"
#include "core/worker_protocol/frame_pool.h"
#include "core/worker_protocol/published_output.h"
#include "ipc/index_entry.h"
#include "ipc/schema/session.capnp.h"

namespace bulkhead::session {

// One picture that the worker published and the ledger accepted.
struct PublishedFrame {
  std::shared_ptr<FrameLease> lease;
  uint32_t width;
  uint32_t height;
  uint32_t stride;
  int64_t pts;  // ipc::kNoTimestamp: none
  int64_t duration;
  bool keyframe;
  uint64_t fingerprint;
  bool damaged;      // parts of it are made up
  int64_t position;  // byte of its packet, -1: unknown
};
// One that it came across and did not publish.
struct UnseenFrame {
  enum class Fate {
    kSound,    // before skip_before
    kDamaged,  // the same, and parts of it are made up
    kLost,     // its packet yielded no picture
  };
  Fate fate;
  int64_t pts;  // ipc::kNoTimestamp: not known
  int64_t duration;
  int64_t position;  // byte of its packet, -1: unknown
  uint64_t count;    // above 1 only without a timestamp
};
struct Paused {};
struct EndOfStream {};
using PlayEvent =
    std::variant<PublishedFrame, UnseenFrame, Paused, EndOfStream>;

struct PlayRequest {
  enum class Start { kOnward, kBeginning, kKeyframe };
  Start start = Start::kOnward;
  int64_t keyframe_before = 0;
  int64_t skip_before = INT64_MIN;
  uint64_t max_frames = UINT64_MAX;
};

// What a video session and its worker say to each other: the host's side of
// the requests of ipc/schema/session.capnp for a video stream. Trust, failure
// and threads are those of WorkerLink, which outlives it.
class VideoLink {
 public:
  explicit VideoLink(WorkerLink& link) : link_(link), stream_(link) {}

  // The metadata has geometry and ratios checked for plausibility. `known` is
  // that of an earlier worker, or null.
  Result<VideoMetadata> Open(const VideoOptions& options, uint32_t incarnation,
                             const Limits& limits, const MediaInput& input,
                             const VideoMetadata* known);
  Status Scan(const std::function<Status(std::span<const ipc::IndexEntry>)>&
                  take_untrusted);
  // The pool is attached.
  Status Play(const PlayRequest& play);
  // Grants free slots and waits for the next event of the last Play.
  // kResourceExhausted: the application holds every slot.
  Result<PlayEvent> Await();
  // Returns true once the worker has died.
  bool dead() const { return link_.dead(); }
  // Timestamp of the keyframe at which the last Play that did not go onward
  // began; nullopt: at the beginning. Known after the first event.
  std::optional<int64_t> entry_untrusted() const { return entry_untrusted_; }

 private:
  // One reply of a play; empty if it belongs to an earlier one.
  Result<std::optional<PlayEvent>> AdoptEventIfValid(
      ipc::schema::Reply::Reader reply_untrusted);
  Result<PublishedFrame> AdoptFrameIfValid(
      ipc::schema::PublishedFrame::Reader frame_untrusted);
  Status AdoptEntryIfValid(ipc::schema::Entered::Reader entered_untrusted);
  Status AdoptUnseenIfValid(ipc::schema::Unseen::Reader unseen_untrusted);

  WorkerLink& link_;
  StreamLink stream_;
  PictureShape shape_;  // of every frame; fixed by Open
  // What is left of the last Play: its answer must keep to it.
  uint64_t frames_left_ = 0;
  int64_t skip_before_ = INT64_MIN;
  bool seeking_ = false;   // its first frame is still to come
  bool entering_ = false;  // it has yet to say where the play began
  bool to_beginning_ = false;
  std::optional<int64_t> entry_untrusted_;
  int64_t media_bytes_ = 0;
  int64_t unseen_left_ = 0;
  std::deque<UnseenFrame> unseen_;  // not yet handed out
};

}  // namespace bulkhead::session
