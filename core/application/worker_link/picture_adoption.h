// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/application/frames/damage_log.h"
#include "core/application/worker_link/worker_link.h"
#include "core/control/picture_hasher.h"
#include "core/include/bulkhead/host.h"
#include "core/worker_protocol/frame_pool.h"
#include "core/worker_protocol/published_output.h"
#include "ipc/damage_sign.h"
#include "ipc/frame_geometry.h"
#include "ipc/schema/session.capnp.h"

namespace bulkhead::worker_link {

// A picture that the worker published and the pool's ledger of slots accepted.
struct PublishedFrame {
  std::shared_ptr<worker_protocol::FrameLease> lease;
  uint32_t width;
  uint32_t height;
  uint32_t stride;   // in bytes
  int64_t pts;       // in the time base; ipc::kNoTimestamp: none
  int64_t duration;  // in the time base; 0: unknown
  bool keyframe;
  // A number that is equal for equal pictures of one shape. With a hasher
  // (PictureAdoption), it is the host's hash of all bytes. Without a hasher, it
  // is the worker's hash of every 16th row, that is, an unverified claim.
  uint64_t fingerprint;
  bool damaged;          // the decoder made up parts of the picture
  ipc::DamageSign sign;  // the sign of the damage, if `damaged`
  int64_t position;      // offset of the packet in the file; -1: unknown
  uint32_t check;        // the packet's ipc::IndexEntry::check
  std::shared_ptr<const worker_protocol::NativeFormat> native;  // null for RGB
  worker_protocol::PictureFacts facts;  // only for native pictures
};

// Returns the damage of a damaged picture, without the frame's number.
inline frames::Damage DamageOf(const PublishedFrame& frame) {
  return {{.pts = frame.pts,
           .duration = frame.duration,
           .position = frame.position,
           .sign = frame.sign}};
}

// Turns the pictures that a worker publishes into frames of the host. Knows the
// shape that pictures must have. With autoscale, all have one shape. Without,
// each picture may have its own size and, if native, its own pixel format.
//
// A picture is adopted if its shape, damage and facts are valid and the ledger
// of the pool has recorded its slot. The pixels are not checked. If a picture
// cannot be adopted, the worker is killed, and the functions return the error.
//
// Owned by VideoLink. Threads, trust and failure are as in WorkerLink, which
// outlives this object.
class PictureAdoption {
 public:
  // Each picture is hashed on arrival if `hasher` is not null. `hasher` must
  // outlive this object.
  PictureAdoption(WorkerLink& link, const PictureHasher* hasher)
      : link_(link), hasher_(hasher) {}

  // Sets the shape that the worker reported when it opened the stream. Kills
  // the worker if its native pixel format is not valid.
  Status Open(const VideoOptions& options, const Limits& limits,
              const VideoMetadata& metadata);
  bool autoscale() const { return autoscale_; }
  bool native() const { return shape_.native != nullptr; }

  // Validates a published picture, and records its slot in the ledger.
  Result<PublishedFrame> AdoptIfValid(
      ipc::schema::PublishedFrame::Reader frame_untrusted);
  // Validates a request for larger slots, and returns the layout of the picture
  // that needs them. A worker may send this once before each frame.
  Result<ipc::FrameGeometry> AdoptNeedIfValid(
      ipc::schema::NeedsPool::Reader needs_untrusted);
  // Forgets that the worker asked for larger slots, since another play begins.
  void ForgetNeed() { asked_for_pool_ = false; }

  // Returns the number of pictures adopted, in all plays. An honest worker sets
  // RegionHeader::decoded to this number, or to one more while it is one frame
  // ahead.
  uint32_t count() const { return count_; }

 private:
  // Returns PublishedFrame::fingerprint of a picture. Without autoscale, mixes
  // the shape into it.
  uint64_t FingerprintOf(ipc::schema::PublishedFrame::Reader frame_untrusted,
                         const std::byte* slot) const;

  WorkerLink& link_;
  const PictureHasher* const hasher_;
  // Set by Open().
  bool autoscale_ = true;
  uint64_t max_pixels_ = 0;
  // The shape of all frames; without autoscale, the shape of the latest frame.
  worker_protocol::PictureShape shape_;
  uint32_t count_ = 0;
  bool asked_for_pool_ = false;  // since the last frame
};

}  // namespace bulkhead::worker_link
