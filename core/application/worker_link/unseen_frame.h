// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "core/include/bulkhead/status.h"
#include "ipc/damage_sign.h"
#include "ipc/schema/session.capnp.h"

namespace bulkhead::session {

// A frame that the worker came across and did not publish, or a note.
struct UnseenFrame {
  enum class Fate {
    kSound,    // the frame is before PlayRequest::skip_before
    kDamaged,  // the same, and parts of the picture are made up
    kLost,     // the packet yielded no picture
    // The file lacks the packets, so that the index does not have them.
    kNotInIndex,
    // No frame: something was odd at a packet whose picture is sound.
    kNote,
  };
  Fate fate = Fate::kSound;
  // Names what showed the damage, or what the note is about.
  ipc::DamageSign sign = ipc::DamageSign::kUnknown;
  int64_t pts = 0;        // in the time base; ipc::kNoTimestamp: unknown
  int64_t duration = 0;   // in the time base; 0: unknown
  int64_t position = -1;  // byte of its packet in the file; -1: unknown
  // The number of frames; more than 1 only without a timestamp, or as an
  // estimate for kNotInIndex. 0 for a note.
  uint64_t count = 0;
  // Quotes the backend about a lost frame, or libavformat where it stopped
  // (kStopped); empty otherwise.
  std::string words = {};
  // Only for kNotInIndex: the offset after the lost bytes, and the size that
  // the file should have; -1: unknown.
  int64_t end_position = -1;
  int64_t declared_size = -1;
};

// Checks what a worker reports of a frame in a play that leaves out what is
// before `skip_before`. The media have `media_bytes`. The words are left to the
// caller. An error means that the worker broke the protocol; its message is a
// clause that begins with "it". The reader must be over private memory; call
// inside ipc::ReadCatching.
Result<UnseenFrame> ValidateUnseen(
    ipc::schema::UnseenFrame::Reader frame_untrusted, int64_t skip_before,
    int64_t media_bytes);

}  // namespace bulkhead::session
