// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "ipc/index_entry.h"
#include "ipc/schema/session.capnp.h"

namespace bulkhead::worker_link {

// A request for frames, called a play. It says where the worker begins to
// decode, and which frames it publishes. Timestamps are in the time base of the
// stream.
struct PlayRequest {
  enum class Start {
    kOnward,     // after the last frame of the previous play
    kBeginning,  // at the first packet
    kKeyframe,   // at the last keyframe at or before `keyframe_before`
    kPacket,     // at the packet of `entry`; if no seek finds it, kBeginning
  };
  Start start = Start::kOnward;
  int64_t keyframe_before = 0;
  ipc::IndexEntry entry = {};       // a point of access
  int64_t skip_before = INT64_MIN;  // earlier frames are decoded, not published
  uint64_t max_frames = UINT64_MAX;  // the play pauses after this number
  // True if the caller wants every frame in order, as Next() does. The worker
  // may then decode the next frame while it converts one (Play.overlap).
  bool in_turn = false;
};

// Returns the request in words, for the crash record.
std::string Describe(const PlayRequest& play);

// Writes all fields of the message except `epoch` and `overlap`, which the
// VideoLink sets.
void Write(const PlayRequest& play, ipc::schema::Play::Builder out);

}  // namespace bulkhead::worker_link
