// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <capnp/message.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "core/application/supervisor_link/started_worker.h"
#include "core/application/supervisor_link/supervisor_link.h"
#include "core/application/worker_link/media_input.h"
#include "core/application/worker_link/video_link.h"
#include "core/control/picture_hasher.h"
#include "core/include/bulkhead/host.h"
#include "ipc/unique_fd.h"

namespace bulkhead::session {

// Reports the frames of one video stream to bulkheadd, which compares them with
// frames of another device (HostOptions::shadow). bulkheadd also runs the other
// device's worker and keeps the counts (core/supervisor/shadow).
//
// The feed sends a hash of each frame over its own socket. It never waits while
// frames are delivered: if the socket has no room, it only counts the frame as
// not sent. Only the destructor may wait, up to half a second, to send this
// count. When bulkheadd stops comparing, the feed continues without hashes, so
// that bulkheadd can count the frames. When bulkheadd closes the socket, the
// feed ends.
//
// The hash is of the pixels that are in the slot when the frame is delivered. A
// worker that changes them later is not noticed.
//
// Owned by the session's Witness. Not thread-safe.
class ShadowFeed {
 public:
  // Decides at random whether the stream gets a shadow (ShadowOptions::share),
  // and if so, asks bulkheadd for it. Returns null if the stream gets none. A
  // stream that cannot be compared (with native frames, for example) gets a
  // feed, so that bulkheadd counts its frames. `started` is the worker that has
  // opened the stream.
  static std::unique_ptr<ShadowFeed> Draw(
      supervisor_link::SupervisorLink& supervisor,
      const supervisor_link::StartedWorker& started,
      const worker_link::MediaInput& input, const VideoOptions& options,
      const VideoMetadata& metadata, const Limits& limits);
  ~ShadowFeed();

  // Reports a frame that a worker of `backend` has published. `in_order` is
  // true for frames of Next(). After a failover to another backend, the first
  // frame ends the feed, since the shadow is for the first backend.
  void Show(const std::string& backend,
            const worker_link::PublishedFrame& frame, uint64_t number,
            bool in_order);
  // Reports that Next() has come to the end of the stream, after `frames`
  // frames.
  void End(uint64_t frames);

 private:
  ShadowFeed(std::string backend, const VideoMetadata& metadata, uint64_t key,
             ipc::UniqueFd socket);
  // Returns whether bulkheadd still compares frames.
  bool wants_hashes();
  // Sends a ShadowedFrame, or counts it as not sent.
  void Send(capnp::MessageBuilder& message,
            std::chrono::milliseconds patience = {});

  const std::string backend_;
  const Ratio time_base_;
  const uint32_t bytes_per_pixel_;
  const PictureHasher hasher_;
  ipc::UniqueFd socket_;  // invalid once the feed has ended
  bool wants_hashes_ = true;
  uint64_t not_sent_ = 0;  // frames dropped since the last message was sent
};

}  // namespace bulkhead::session
