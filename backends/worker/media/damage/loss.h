// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backends/sdk/bulkhead_backend.h"
#include "ipc/damage_sign.h"

namespace bulkhead::worker {

// Frames that do not come, or with the sign of a note a packet about which
// something is odd. Of sound, the same is LostSamples.
struct Loss {
  int64_t pts = BULKHEAD_NO_TIMESTAMP;  // if the packet is not known, too
  int64_t duration = 0;                 // 0: unknown
  // The byte offset of the packet in the file, or of the first byte among which
  // the packets are; -1: unknown.
  int64_t position = -1;
  uint64_t packets = 1;  // 1 if pts is known
  ipc::DamageSign sign = ipc::DamageSign::kNoPicture;
  // The file lacks the packets at its end (missing_end.h), so that the index
  // does not have them.
  bool not_in_index = false;
  // The offset after the bytes among which the packets are, if they are not
  // known or not in the index; -1: unknown.
  int64_t end_position = -1;
  // Of a file that is cut off: the size that its header tells; -1: unknown.
  int64_t declared_size = -1;
};

}  // namespace bulkhead::worker
