// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/application/frames/damage_log.h"
#include "core/include/bulkhead/status.h"
#include "ipc/schema/session.capnp.h"

namespace bulkhead::worker_link {

// A report about a frame that the worker met in a play (a request for frames)
// and did not publish, or a note about a packet.
struct UnseenFrame {
  enum class Fate {
    kSound,    // before PlayRequest::skip_before, and without damage
    kDamaged,  // before PlayRequest::skip_before; parts are made up
    kLost,     // the packet yielded no picture
    // Frames whose packets the file lacks, so that the index lacks them too.
    kNotInIndex,
    // A note and not a frame: a packet was odd, but no frame is lost.
    kNote,
  };
  Fate fate = Fate::kSound;
  // The timestamp and offset of the frame, and the sign of the damage. Set for
  // a sound frame, too. Damage::frame is not set.
  frames::Damage damage;
};

// Validates a report from a play with PlayRequest::skip_before = `skip_before`.
// `media_bytes` is the size of the media. The caller adds the decoder's words.
// An error means that the worker broke the protocol; its message is a clause
// that begins with "it". The reader must be over private memory. Call inside
// ipc::ReadCatching.
Result<UnseenFrame> ValidateUnseen(
    ipc::schema::UnseenFrame::Reader frame_untrusted, int64_t skip_before,
    int64_t media_bytes);

}  // namespace bulkhead::worker_link
