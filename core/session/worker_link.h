// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "core/include/bulkhead/host.h"
#include "core/session/frame_pool.h"
#include "core/session/session_end.h"
#include "core/session/supervisor_link.h"
#include "ipc/index_entry.h"
#include "ipc/ring.h"
#include "ipc/schema/session.capnp.h"
#include "ipc/shared_region.h"
#include "ipc/waiter.h"

namespace bulkhead::session {

// What a worker is asked to decode.
struct Source {
  int media_fd;           // borrowed, read-only
  std::string name;       // for messages
  std::string name_hint;  // base name, for choosing a demuxer
  int64_t bytes;
};

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

// One incarnation of a session's worker: started, spoken to, dead once and for
// all. VideoSession makes the next one. Its process may serve other sessions
// too (worker_scope = "backend"), which for us means only: it is left alive
// when we are done with it, and killed all the same for what it does to us.
//
// Trust: the worker is hostile. Every reply is copied out, checked against what
// was asked and against the pool's ledger, and only then seen by anybody. The
// first thing that does not hold ends the worker with kBackendMisbehaved.
//
// Failure: kBackendLost when it died, kDeadlineExceeded when it was killed for
// being late, kBackendMisbehaved when it was killed for lying; after these
// dead() is true and exit() tells more. Any other code is what the worker said
// about the input, and it lives on.
//
// Not thread-safe.
class WorkerLink {
 public:
  static Result<std::unique_ptr<WorkerLink>> Start(
      std::shared_ptr<SupervisorLink> supervisor,
      const SessionRequest& request);
  // Kills the worker if it lives and serves nobody else; otherwise only closes
  // the session.
  ~WorkerLink();
  WorkerLink(const WorkerLink&) = delete;
  WorkerLink& operator=(const WorkerLink&) = delete;

  // Waits until it reports its lock-down, then hands it its memory and media.
  Status Attach(const Source& source);
  // The metadata has geometry and ratios checked for plausibility. `known` is
  // that of an earlier worker, or null.
  Result<VideoMetadata> Open(const VideoOptions& options, uint32_t incarnation,
                             const Limits& limits, const Source& source,
                             const VideoMetadata* known);
  Status Scan(const std::function<Status(std::span<const ipc::IndexEntry>)>&
                  take_untrusted);
  // The pool must have no slot granted to anybody else.
  Status AttachPool(std::shared_ptr<FramePool> pool);
  Status Play(const PlayRequest& play);
  // Grants free slots and waits for the next event of the last Play.
  // kResourceExhausted: the application holds every slot.
  Result<PlayEvent> Await();

  bool dead() const { return dead_; }
  // Whether it was handed the media: before that no input can be to blame.
  bool met_media() const { return met_media_; }
  // True when the worker is known to have ended, so that its memory is ours.
  bool gone() const { return gone_; }
  // How it ended. Only when dead(), and once: bulkheadd is told, and counts it.
  // `session` has what the session knows, and the rest is added to it.
  WorkerExit TakeExit(SeenEnd session);
  pid_t pid() const;
  const StartedWorker& started() const { return started_; }
  std::chrono::microseconds start_time() const { return start_time_; }

 private:
  WorkerLink(std::shared_ptr<SupervisorLink> supervisor,
             std::chrono::steady_clock::time_point asked_at,
             StartedWorker started, ipc::UniqueFd socket,
             ipc::OwnedRegion requests, ipc::OwnedRegion replies,
             ipc::UniqueFd wake_worker, ipc::UniqueFd wake_host);

  Status Send(size_t max_words,
              const std::function<void(ipc::schema::Request::Builder)>& fill);
  // Waits for a reply and hands it to `take`, which validates.
  Status Receive(ipc::Deadline deadline, const char* step,
                 const std::function<Status(ipc::schema::Reply::Reader)>& take);
  Status GrantFreeSlots();
  // One reply of a play; empty if it belongs to an earlier one.
  Result<std::optional<PlayEvent>> AdoptEventIfValid(
      ipc::schema::Reply::Reader reply_untrusted);
  Result<PublishedFrame> AdoptFrameIfValid(
      ipc::schema::PublishedFrame::Reader frame_untrusted);
  Status FailureOf(ipc::schema::Failed::Reader failed_untrusted);
  Status Died();
  Status Kill(Code code, ExitReport::Kind kind, std::string message);
  Status Misbehaved(const std::string& what);
  std::string LastMessage() const;

  const std::shared_ptr<SupervisorLink> supervisor_;
  const StartedWorker started_;
  const ipc::UniqueFd socket_;
  ipc::OwnedRegion requests_;
  ipc::OwnedRegion replies_;
  const ipc::UniqueFd wake_worker_;
  const ipc::UniqueFd wake_host_;
  ipc::RingWriter writer_;
  ipc::RingReader reader_;
  ipc::Waiter waiter_;
  std::shared_ptr<FramePool> pool_;
  const std::chrono::steady_clock::time_point asked_at_;
  std::chrono::microseconds start_time_{0};
  // Of every frame; fixed by Open.
  uint32_t width_ = 0;
  uint32_t height_ = 0;
  uint32_t epoch_ = 0;
  // What is left of the last Play: its answer must keep to it.
  uint64_t frames_left_ = 0;
  int64_t skip_before_ = INT64_MIN;
  bool playing_ = false;
  bool dead_ = false;
  bool gone_ = false;
  bool met_media_ = false;
  ExitReport::Kind killed_for_ = ExitReport::Kind::kUnknown;
  std::string killed_because_;
  // The last request that it was sent, in words.
  const char* last_request_ = "";
  PlayRequest last_play_;  // if that was one
};

}  // namespace bulkhead::session
