// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <variant>

#include "core/include/bulkhead/host.h"
#include "core/session/frame_pool.h"
#include "core/session/media_input.h"
#include "core/session/worker_link.h"
#include "ipc/frame_geometry.h"
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
};
struct Paused {};
struct EndOfStream {};
using PlayEvent = std::variant<PublishedFrame, Paused, EndOfStream>;

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
  explicit VideoLink(WorkerLink& link) : link_(link) {}

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

 private:
  // One reply of a play; empty if it belongs to an earlier one.
  Result<std::optional<PlayEvent>> AdoptEventIfValid(
      ipc::schema::Reply::Reader reply_untrusted);
  Result<PublishedFrame> AdoptFrameIfValid(
      ipc::schema::PublishedFrame::Reader frame_untrusted);

  WorkerLink& link_;
  // Of every frame; fixed by Open.
  uint32_t width_ = 0;
  uint32_t height_ = 0;
  ipc::ElementType element_ = ipc::ElementType::kUint8;
  uint32_t epoch_ = 0;
  // What is left of the last Play: its answer must keep to it.
  uint64_t frames_left_ = 0;
  int64_t skip_before_ = INT64_MIN;
  bool playing_ = false;
  bool seeking_ = false;  // its first frame is still to come
};

}  // namespace bulkhead::session
