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
#include "core/control/picture_hash.h"
#include "core/include/bulkhead/host.h"
#include "ipc/unique_fd.h"

namespace bulkhead::session {

// Reports to bulkheadd what the caller gets of one video stream, to be compared
// with another device's pictures (HostOptions::shadow). bulkheadd does the
// rest: it has the other worker, the counts and the trial
// (core/supervisor/shadow).
//
// Sends a hash of each frame over a socket of its own and does not wait: what
// the socket has no room for is counted instead. Only the end of the stream
// waits, and for as long as closing a session does, if frames were counted that
// could not be sent. Once bulkheadd compares no more, frames are sent without a
// hash, so that they are counted; a socket that bulkheadd has closed ends the
// feed. It hashes the pixels that are in the slot at that moment; a worker that
// changes them later is not noticed.
//
// Owned by the session. Not thread-safe.
class ShadowFeed {
 public:
  // Returns null if the stream was not drawn. `started` is the worker that has
  // opened the stream.
  static std::unique_ptr<ShadowFeed> Draw(
      supervisor_link::SupervisorLink& supervisor,
      const supervisor_link::StartedWorker& started,
      const worker_link::MediaInput& input, const VideoOptions& options,
      const VideoMetadata& metadata, const Limits& limits);
  ~ShadowFeed();

  // Reports a frame that a worker of `backend` has published. `in_order` is
  // true for Next(). Frames of another backend end the feed: the shadow belongs
  // to the backend that the stream began on.
  void Show(const std::string& backend,
            const worker_link::PublishedFrame& frame, uint64_t number,
            bool in_order);
  // Says that Next() has come to the end, after `frames` frames.
  void End(uint64_t frames);

 private:
  ShadowFeed(std::string backend, const VideoMetadata& metadata, uint64_t key,
             ipc::UniqueFd socket);
  // Returns whether bulkheadd still compares.
  bool wants_hashes();
  void Send(capnp::MessageBuilder& message,
            std::chrono::milliseconds patience = {});

  const std::string backend_;
  const Ratio time_base_;
  const uint32_t bytes_per_pixel_;
  const PictureHasher hasher_;
  ipc::UniqueFd socket_;  // invalid once the feed has ended
  bool wants_hashes_ = true;
  uint64_t not_sent_ = 0;
};

}  // namespace bulkhead::session
