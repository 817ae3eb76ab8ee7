// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "ipc/damage_sign.h"
#include "ipc/index_entry.h"

namespace bulkhead::ipc {

// Losses of a stream, which a worker reports and the host keeps. They travel as
// UnseenFrame and LostSamples in schema/session.capnp.

// Frames that do not come or, with the sign of a note, a packet that is odd in
// some way. Timestamps are in the time base.
struct Loss {
  int64_t pts = kNoTimestamp;  // kNoTimestamp: unknown
  int64_t duration = 0;        // 0: unknown
  // The byte offset of the packet in the file, or of the first of the bytes
  // among which the packets lie; -1: unknown.
  int64_t position = -1;
  uint64_t packets =
      1;  // an estimate if not_in_index; the host has 0 for notes
  DamageSign sign = DamageSign::kNoPicture;
  // The file lacks the packets at its end, so that the index does not have
  // them, and they have no numbers.
  bool not_in_index = false;
  // The offset after the bytes among which the packets are, if they are not
  // known or not in the index; -1: unknown.
  int64_t end_position = -1;
  // The size that the header of a file states, if it is cut off; -1: unknown.
  int64_t declared_size = -1;
};

// Consecutive samples of a stream that cannot be decoded or, with the sign of a
// note, a place before which something was odd.
struct LostSamples {
  int64_t first = 0;  // the number of the first lost sample, 0 or more
  int64_t count = 0;  // 0 for a note; first + count fits
  DamageSign sign = DamageSign::kUnknown;
  // The offsets in the file of the first and the last damaged packet; -1 if
  // unknown.
  int64_t first_byte = -1;
  int64_t last_byte = -1;
  // The last sentence of the backend about damage, or of libavformat where it
  // stopped (kStopped); may be empty.
  std::string words = {};
  bool estimated = false;  // nothing in the file states `count` exactly
  // The size that the headers of a file state, or else its number of samples,
  // if the file is cut off; -1 otherwise.
  int64_t declared_size = -1;
  int64_t declared_samples = -1;
};

}  // namespace bulkhead::ipc
