// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/application/frames/damage_log.h"
#include "core/include/bulkhead/status.h"
#include "ipc/schema/session.capnp.h"

namespace bulkhead::worker_link {

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
  // Describes the frame as damage, even if it is sound; without its number.
  frames::Damage damage;
};

// Checks what a worker reports of a frame in a play that leaves out what is
// before `skip_before`. The media have `media_bytes`. The words are left to the
// caller. An error means that the worker broke the protocol; its message is a
// clause that begins with "it". The reader must be over private memory; call
// inside ipc::ReadCatching.
Result<UnseenFrame> ValidateUnseen(
    ipc::schema::UnseenFrame::Reader frame_untrusted, int64_t skip_before,
    int64_t media_bytes);

}  // namespace bulkhead::worker_link
