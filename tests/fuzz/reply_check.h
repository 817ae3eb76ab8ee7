// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>

#include "core/application/frames/frame_index.h"
#include "core/include/bulkhead/host_options.h"
#include "core/include/bulkhead/metadata.h"
#include "core/include/bulkhead/source.h"
#include "core/include/bulkhead/video_decoder.h"
#include "core/include/bulkhead/video_options.h"
#include "core/worker_protocol/frame_pool.h"
#include "core/worker_protocol/published_output.h"
#include "core/worker_protocol/served_media.h"
#include "ipc/schema/session.capnp.h"

namespace bulkhead::fuzz {

// Takes the replies of a hostile worker with the code that a host uses for
// them, in any order, and checks with FUZZ_CHECK what that code let pass: sizes
// within the limits, pictures and samples within their slots, texts fit to
// print, numbers that can be calculated with. Reads every byte of what was
// published.
//
// A reply that is refused changes nothing, so that a fuzzer gets further with
// one input than a worker with a host, which ends a worker that lies.
//
// Calls of Take() belong inside ipc::ReadCatching. Not thread-safe.
class ReplyCheck {
 public:
  // The streams that the host has asked for.
  struct Asked {
    bool native = false;
    bool autoscale = true;
    bool float32 = false;
    // True if each lease is mapped copy-on-write as well.
    bool maps_privately = false;
  };
  explicit ReplyCheck(const Asked& asked);

  // Returns whether the reply was accepted.
  bool Take(ipc::schema::Reply::Reader reply_untrusted);

  // Returns the memory of the stream that was opened last, or null.
  const std::shared_ptr<worker_protocol::FramePool>& pool() const {
    return pool_;
  }
  // Returns how many pictures and blocks of samples were accepted.
  uint64_t published() const { return published_; }

 private:
  bool TakeOpened(ipc::schema::Opened::Reader opened_untrusted);
  bool TakeOpenedAudio(ipc::schema::OpenedAudio::Reader opened_untrusted);
  bool TakeFrame(ipc::schema::PublishedFrame::Reader frame_untrusted);
  bool TakeSamples(ipc::schema::PublishedSamples::Reader samples_untrusted);
  bool TakeNeed(ipc::schema::NeedsPool::Reader needs_untrusted);
  bool TakeIndex(ipc::schema::IndexChunk::Reader chunk_untrusted);
  bool TakeDescribed(ipc::schema::Described::Reader described_untrusted);
  bool TakeFailure(ipc::schema::Failure::Reader failure_untrusted);
  bool TakeRead(ipc::schema::Read::Reader read_untrusted);
  void CheckIndex();
  bool MakePool(uint64_t slot_bytes);
  void Hold(std::shared_ptr<worker_protocol::FrameLease> lease);
  void GrantAll();

  const Limits limits_;
  const VideoOptions options_;
  const bool maps_privately_;
  SourceReader media_;
  std::optional<worker_protocol::ServedMedia> served_;
  worker_protocol::PictureShape shape_;
  uint32_t channels_ = 0;
  VideoMetadata video_;
  ContainerMetadata container_;
  uint32_t streams_to_come_ = 0;
  frames::FrameIndex index_;
  std::shared_ptr<worker_protocol::FramePool> pool_;
  std::deque<std::shared_ptr<worker_protocol::FrameLease>> held_;
  uint64_t published_ = 0;
};

}  // namespace bulkhead::fuzz
